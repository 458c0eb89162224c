// A scatter plot of programs along their two main directions. All contents come as props.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Point, SpaceMap } from "../contract";
import { useBox } from "../ui/box";
import { colours } from "../watch/colours";

interface Props {
  map: SpaceMap;
  population?: Point[];
  walk?: Point[];
  /** index of the current point of the walk */
  walkAt?: number;
  here?: Point | null;
  named?: { name: string; point: Point }[];
  pointed?: number | null;
  onPoint?: (index: number | null) => void;
  onPick?: (index: number) => void;
  testid: string;
}

const MARGIN = 18;
const NEAR = 24; // maximum number of pixels between the pointer and a program that it selects

export function LatentMap(props: Props) {
  const [host, box] = useBox<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);

  const { width, height } = box.value;
  const toPixels = scaleOf(props.map, width, height);

  const ratio = window.devicePixelRatio || 1;
  // The 2,000 dots are redrawn only when the colours or the size change.
  const backdrop = useMemo(
    () => (width < 10 || height < 10 ? null : drawBackdrop(props.map, width, height, ratio)),
    [props.map, width, height, ratio, colours.value],
  );

  useLayoutEffect(() => {
    if (!backdrop) return;
    const element = canvas.current!;
    if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
    }
    const on = element.getContext("2d")!;
    on.setTransform(1, 0, 0, 1, 0, 0);
    on.clearRect(0, 0, element.width, element.height);
    on.drawImage(backdrop, 0, 0);
    on.scale(ratio, ratio);
    drawOver(on, props, toPixels);
  });

  function nearest(event: MouseEvent & { currentTarget: Element }): number | null {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [found, distance]: [number | null, number] = [null, NEAR];
    props.map.points.forEach(([px, py], index) => {
      const [qx, qy] = toPixels([px, py]);
      const away = Math.hypot(qx - x, qy - y);
      if (away < distance) [found, distance] = [index, away];
    });
    return found;
  }

  return (
    <div class={props.onPick ? "map pickable" : "map"} ref={host}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Map of ${props.map.points.length} programs; similar programs lie close together. The list next to it has them as text.`}
        data-testid={props.testid}
        onMouseMove={(event) => props.onPoint?.(nearest(event))}
        onMouseLeave={() => props.onPoint?.(null)}
        onClick={(event) => {
          const index = nearest(event);
          if (index !== null) props.onPick?.(index);
        }}
      />
    </div>
  );
}

type Scale = (point: Point) => Point;

/** Scale both directions equally. A few distant programs may lie outside, so that the others have room. */
function scaleOf({ points }: SpaceMap, width: number, height: number): Scale {
  const range = (values: number[]): [number, number] => {
    const sorted = Float64Array.from(values).sort();
    const cut = Math.floor(sorted.length * 0.005);
    return [sorted[cut] ?? -1, sorted[sorted.length - 1 - cut] ?? 1];
  };
  const [left, right] = range(points.map(([x]) => x));
  const [low, high] = range(points.map(([, y]) => y));
  const scale = Math.min(
    (width - 2 * MARGIN) / (right - left || 1),
    (height - 2 * MARGIN) / (high - low || 1),
  );
  return ([x, y]) => [
    width / 2 + (x - (left + right) / 2) * scale,
    height / 2 - (y - (low + high) / 2) * scale,
  ];
}

function drawBackdrop(map: SpaceMap, width: number, height: number, ratio: number): OffscreenCanvas {
  const surface = new OffscreenCanvas(Math.round(width * ratio), Math.round(height * ratio));
  const on = surface.getContext("2d")!;
  on.scale(ratio, ratio);
  const toPixels = scaleOf(map, width, height);
  const { marker, faint, karel } = colours.value;
  on.globalAlpha = 0.5;
  for (const [x, y, program] of map.points) {
    on.fillStyle = program.includes("WHILE") ? karel : program.includes("REPEAT") ? marker : faint;
    disc(on, toPixels([x, y]), 2);
  }
  return surface;
}

function drawOver(on: CanvasRenderingContext2D, props: Props, toPixels: Scale): void {
  const { ink, accent, karel, panel, good } = colours.value;
  if (props.population) {
    on.fillStyle = good;
    on.globalAlpha = 0.85;
    for (const point of props.population) disc(on, toPixels(point), 3.5);
    on.globalAlpha = 1;
  }
  if (props.walk?.length) {
    on.strokeStyle = accent;
    on.lineWidth = 2;
    on.lineJoin = "round";
    on.beginPath();
    for (const point of props.walk) on.lineTo(...toPixels(point));
    on.stroke();
    on.fillStyle = accent;
    for (const point of props.walk) disc(on, toPixels(point), 3);
    const at = props.walk[props.walkAt ?? 0];
    if (at) ringed(on, toPixels(at), 7, accent, panel);
  }
  if (props.here) ringed(on, toPixels(props.here), 7, karel, panel);
  for (const { name, point } of props.named ?? []) {
    const [x, y] = toPixels(point);
    ringed(on, [x, y], 10, ink, panel);
    on.fillStyle = panel;
    on.font = "600 12px system-ui, sans-serif";
    on.textAlign = "center";
    on.textBaseline = "middle";
    on.fillText(name, x, y + 0.5);
  }
  const pointed = props.pointed == null ? null : props.map.points[props.pointed];
  if (pointed) {
    on.strokeStyle = ink;
    on.lineWidth = 2;
    on.beginPath();
    on.arc(...toPixels([pointed[0], pointed[1]]), 6, 0, 2 * Math.PI);
    on.stroke();
  }
}

type Surface = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

function disc(on: Surface, [x, y]: Point, radius: number): void {
  on.beginPath();
  on.arc(x, y, radius, 0, 2 * Math.PI);
  on.fill();
}

function ringed(on: Surface, point: Point, radius: number, colour: string, ring: string): void {
  on.fillStyle = ring;
  disc(on, point, radius + 2);
  on.fillStyle = colour;
  disc(on, point, radius);
}
