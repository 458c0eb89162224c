// The drawing board: place walls, markers and Karel with mouse, touch or keys.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { useBox } from "../ui/box";
import { narrow } from "../ui/narrow";
import { colours } from "../watch/colours";
import { cellSize, drawKarel, drawMarkers, drawRoom } from "../watch/room";
import { WALL } from "../watch/world";
import { draw, drawnWorld, sizeOf, tool } from "./drawing";

const SYMBOLS = ".123456789A";
const [ASIDE, BELOW] = [8, 36]; // pixels of padding, so that the board is as large as the rollout next to it

export function Board() {
  const [host, box] = useBox<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const cursor = useSignal<[number, number]>([1, 1]);
  const focused = useSignal(false);
  const stroke = useRef<{ cell: string } | null>(null);

  useSignalEffect(() => {
    const [width, height] = [box.value.width - ASIDE, box.value.height - BELOW];
    if (width < 10 || (height < 10 && !narrow.value) || !canvas.current) return;
    paint(
      canvas.current,
      width,
      narrow.value ? 0.8 * window.innerHeight : height,
      focused.value ? cursor.value : null,
    );
  });

  function use(row: number, column: number): void {
    drawnWorld.value = draw(drawnWorld.value, tool.value, row, column);
  }

  function cellAt(event: PointerEvent): [number, number] {
    const [height, width] = sizeOf(drawnWorld.value);
    const box = canvas.current!.getBoundingClientRect();
    return [
      Math.floor(((event.clientY - box.top) / box.height) * height),
      Math.floor(((event.clientX - box.left) / box.width) * width),
    ];
  }

  function touch(event: PointerEvent): void {
    const [row, column] = cellAt(event);
    const cell = `${row},${column}`;
    if (stroke.current?.cell === cell) return; // a stroke uses a cell once
    stroke.current = { cell };
    cursor.value = [row, column];
    use(row, column);
  }

  function press(event: KeyboardEvent): void {
    const [height, width] = sizeOf(drawnWorld.value);
    const [row, column] = cursor.value;
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    if (step) {
      cursor.value = [
        Math.max(1, Math.min(height - 2, row + step[0])),
        Math.max(1, Math.min(width - 2, column + step[1])),
      ];
    } else if (event.key === "Enter" || event.key === " ") use(row, column);
    else return;
    event.preventDefault();
  }

  const [row, column] = cursor.value;
  return (
    <div class="board" ref={host}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label="Drawing board. Arrow keys move, Enter uses the tool."
        aria-describedby="board-cell"
        data-testid="board"
        data-own-keys
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          stroke.current = null;
          touch(event);
        }}
        onPointerMove={(event) => event.buttons === 1 && tool.value !== "karel" && touch(event)}
        onKeyDown={press}
        onFocus={(event) => {
          focused.value = event.currentTarget.matches(":focus-visible");
        }}
        onBlur={() => {
          focused.value = false;
        }}
      />
      <p id="board-cell" class="unseen" aria-live="polite">
        {focused.value ? `Row ${row}, column ${column}: ${named(drawnWorld.value.rows[row]?.[column])}` : ""}
      </p>
    </div>
  );
}

function named(symbol: string | undefined): string {
  if (symbol === "#") return "wall";
  return symbol === "." ? "floor" : `${SYMBOLS.indexOf(symbol ?? ".")} markers`;
}

function paint(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  cursor: [number, number] | null,
): void {
  const ratio = window.devicePixelRatio || 1;
  const world = drawnWorld.value;
  const [rows, columns] = sizeOf(world);
  const cells = Uint8Array.from(world.rows.join(""), (symbol) =>
    symbol === "#" ? WALL : SYMBOLS.indexOf(symbol),
  );
  const grid = { height: rows, width: columns, cells };
  const cell = cellSize(grid, width, height, ratio);
  canvas.width = columns * cell;
  canvas.height = rows * cell;
  canvas.style.width = `${canvas.width / ratio}px`;
  canvas.style.height = `${canvas.height / ratio}px`;
  const on = canvas.getContext("2d", { alpha: false })!;
  drawRoom(on, grid, new Set(), cell, colours.value);
  cells.forEach((markers, index) => {
    const [x, y] = [(index % columns) * cell, Math.floor(index / columns) * cell];
    if (markers !== WALL && markers > 0) drawMarkers(on, markers, x, y, cell, colours.value);
  });
  drawKarel(on, world.karel, cell, colours.value);
  if (cursor) {
    on.strokeStyle = colours.value.accent;
    on.lineWidth = Math.max(2, cell * 0.1);
    on.strokeRect(cursor[1] * cell + 1, cursor[0] * cell + 1, cell - 2, cell - 2);
  }
}
