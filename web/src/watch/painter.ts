// Paint a rollout. For an environment, show the server's pictures. For Karel, draw the room once, and markers
// only where they change. A frame of any size then copies two pictures and draws the path and Karel.

import type { Colours } from "./colours";
import { cellSize, drawKarel, drawMarkers, drawRoom } from "./room";
import type { EpisodeRollout } from "./episode";
import type { Rollout } from "./rollout";
import { WALL, WorldRollout } from "./world";

/** number of steps of the path that are drawn */
const PATH = 480;

export interface Painter {
  paint(position: number): void;
}

interface Room {
  width: number;
  height: number;
}

export function painterOf(
  canvas: HTMLCanvasElement,
  rollout: Rollout,
  colours: Colours,
  space: Room,
): Painter {
  return rollout instanceof WorldRollout
    ? new WorldPainter(canvas, rollout, colours, space)
    : new EpisodePainter(canvas, rollout, colours, space);
}

class EpisodePainter implements Painter {
  private readonly on: CanvasRenderingContext2D;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly rollout: EpisodeRollout,
    private readonly colours: Colours,
    private readonly space: Room,
  ) {
    this.on = canvas.getContext("2d", { alpha: false })!;
  }

  paint(position: number): void {
    const { canvas, on, rollout, space } = this;
    const picture = rollout.pictureAt(position);
    const ratio = window.devicePixelRatio || 1;
    const scale = Math.min(space.width / rollout.width, space.height / rollout.height);
    const [across, down] = [rollout.width, rollout.height].map((side) => Math.max(1, Math.floor(side * scale)));
    canvas.dataset["picture"] = picture && rollout.isHere(position) ? String(position) : "";
    if (canvas.width !== Math.round(across! * ratio) || canvas.height !== Math.round(down! * ratio)) {
      canvas.width = Math.round(across! * ratio);
      canvas.height = Math.round(down! * ratio);
      canvas.style.width = `${across}px`;
      canvas.style.height = `${down}px`;
    }
    if (picture) {
      // Pictures of small cells stay sharp when they are enlarged.
      on.imageSmoothingEnabled = picture.naturalWidth > 100;
      on.imageSmoothingQuality = "high";
      on.drawImage(picture, 0, 0, canvas.width, canvas.height);
    } else {
      on.fillStyle = this.colours.floor;
      on.fillRect(0, 0, canvas.width, canvas.height);
    }
  }
}

class WorldPainter implements Painter {
  private readonly on: CanvasRenderingContext2D;
  private readonly room: OffscreenCanvas;
  private readonly markers: OffscreenCanvas;
  private readonly markersOn: OffscreenCanvasRenderingContext2D;
  private readonly cell: number;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly rollout: WorldRollout,
    private readonly colours: Colours,
    space: Room,
  ) {
    rollout.seek(0, () => {});
    const ratio = window.devicePixelRatio || 1;
    const { height, width, data } = rollout;
    this.cell = cellSize(rollout, space.width, space.height, ratio);
    const [across, down] = [width * this.cell, height * this.cell];
    canvas.width = across;
    canvas.height = down;
    canvas.style.width = `${across / ratio}px`;
    canvas.style.height = `${down / ratio}px`;
    this.on = canvas.getContext("2d", { alpha: false })!;
    this.room = new OffscreenCanvas(across, down);
    const exits = new Set(data.exits.map(([row, column]) => row * width + column));
    drawRoom(this.room.getContext("2d")!, rollout, exits, this.cell, colours);
    this.markers = new OffscreenCanvas(across, down);
    this.markersOn = this.markers.getContext("2d")!;
    for (let cell = 0; cell < rollout.cells.length; cell++) if (this.markersAt(cell)) this.paintCell(cell);
  }

  paint(position: number): void {
    this.rollout.seek(position, (cell) => this.paintCell(cell));
    this.on.drawImage(this.room, 0, 0);
    this.paintPath(this.rollout.position);
    this.on.drawImage(this.markers, 0, 0);
    drawKarel(this.on, this.rollout.pose(this.rollout.position), this.cell, this.colours);
  }

  private markersAt(cell: number): number {
    const found = this.rollout.cells[cell]!;
    return found === WALL ? 0 : found;
  }

  private paintCell(cell: number): void {
    const side = this.cell;
    const [x, y] = [(cell % this.rollout.width) * side, Math.floor(cell / this.rollout.width) * side];
    this.markersOn.clearRect(x, y, side, side);
    const markers = this.markersAt(cell);
    if (markers) drawMarkers(this.markersOn, markers, x, y, side, this.colours);
  }

  /** The last steps of the path; older ones are fainter. */
  private paintPath(position: number): void {
    const { on, cell, rollout } = this;
    const { trail } = this.colours;
    const from = Math.max(0, position - PATH);
    if (position === from) return;
    on.lineWidth = Math.max(1.5, cell * 0.12);
    on.lineCap = "round";
    on.lineJoin = "round";
    const length = position - from;
    for (let shade = 0; shade < trail.length; shade++) {
      const first = from + Math.floor((length * shade) / trail.length);
      const last = from + Math.floor((length * (shade + 1)) / trail.length);
      if (first === last) continue;
      on.strokeStyle = trail[shade]!;
      on.beginPath();
      for (let step = first; step <= last; step++) {
        const [row, column] = rollout.pose(step);
        const [x, y] = [(column + 0.5) * cell, (row + 0.5) * cell];
        if (step === first) on.moveTo(x, y);
        else on.lineTo(x, y);
      }
      on.stroke();
    }
  }
}
