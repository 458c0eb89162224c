// Drawing a world's parts on a canvas, in whole device pixels.

import type { Colours } from "./colours";
import { WALL } from "./world";

export type Surface = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export interface Grid {
  height: number;
  width: number;
  cells: Uint8Array;
}

/** device pixels of a cell below which details are not drawn */
const DETAILED = 10;
const NUMBERED = 15;

/** The largest cell size, in device pixels, at which a grid fits. */
export function cellSize(grid: Grid, width: number, height: number, ratio: number): number {
  const fits = Math.min((width * ratio) / grid.width, (height * ratio) / grid.height);
  return Math.max(1, Math.floor(Math.min(fits, 64 * ratio)));
}

/** Floor and walls, with the corners of both rounded. */
export function drawRoom(on: Surface, grid: Grid, exits: Set<number>, cell: number, colours: Colours): void {
  const { height, width, cells } = grid;
  const wall = (row: number, column: number): boolean =>
    row < 0 || column < 0 || row >= height || column >= width || cells[row * width + column] === WALL;
  const radius = cell >= DETAILED ? Math.min(cell * 0.16, 7) : 0;
  on.fillStyle = colours.wall;
  on.fillRect(0, 0, width * cell, height * cell);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const here = wall(row, column);
      // the corners, clockwise from the top left, at which both neighbours are of the other kind
      const [up, right] = [wall(row - 1, column) !== here, wall(row, column + 1) !== here];
      const [down, left] = [wall(row + 1, column) !== here, wall(row, column - 1) !== here];
      const corners = [up && left, up && right, down && right, down && left].map((round) =>
        round ? radius : 0,
      );
      const [x, y] = [column * cell, row * cell];
      if (here && radius && corners.some(Boolean)) {
        on.fillStyle = colours.floor;
        on.fillRect(x, y, cell, cell);
        on.fillStyle = colours.wall;
        fillRounded(on, x, y, cell, corners);
      } else if (!here) {
        on.fillStyle = exits.has(row * width + column) ? colours.exit : colours.floor;
        fillRounded(on, x, y, cell, corners);
      }
    }
  }
  if (cell < DETAILED) return;
  on.fillStyle = colours.grid;
  for (let row = 1; row < height; row++) {
    for (let column = 1; column < width; column++) {
      if (wall(row, column)) continue;
      if (!wall(row, column - 1)) on.fillRect(column * cell, row * cell, 1, cell);
      if (!wall(row - 1, column)) on.fillRect(column * cell, row * cell, cell, 1);
    }
  }
}

function fillRounded(on: Surface, x: number, y: number, side: number, corners: number[]): void {
  if (!corners.some(Boolean)) {
    on.fillRect(x, y, side, side);
    return;
  }
  on.beginPath();
  on.roundRect(x, y, side, side, corners);
  on.fill();
}

export function drawMarkers(
  on: Surface,
  count: number,
  x: number,
  y: number,
  cell: number,
  colours: Colours,
): void {
  on.fillStyle = colours.marker;
  if (cell < 5) {
    on.fillRect(x, y, Math.max(1, cell - 1), Math.max(1, cell - 1));
    return;
  }
  on.beginPath();
  on.arc(x + cell / 2, y + cell / 2, cell * (count > 1 ? 0.34 : 0.29), 0, 2 * Math.PI);
  on.fill();
  if (count > 1 && cell >= NUMBERED) {
    on.fillStyle = colours.markerText;
    on.font = `600 ${Math.round(cell * 0.42)}px system-ui, sans-serif`;
    on.textAlign = "center";
    on.textBaseline = "middle";
    on.fillText(String(count), x + cell / 2, y + cell * 0.53);
  }
}

/** An arrow, pointing where Karel faces (0 north, clockwise). */
export function drawKarel(
  on: Surface,
  [row, column, heading]: readonly [number, number, number],
  cell: number,
  colours: Colours,
): void {
  on.save();
  on.translate((column + 0.5) * cell, (row + 0.5) * cell);
  on.rotate(((heading - 1) * Math.PI) / 2);
  const scale = Math.max(cell, 5);
  on.beginPath();
  on.moveTo(0.4 * scale, 0);
  on.lineTo(-0.34 * scale, 0.34 * scale);
  on.lineTo(-0.18 * scale, 0);
  on.lineTo(-0.34 * scale, -0.34 * scale);
  on.closePath();
  on.lineJoin = "round";
  if (cell >= DETAILED) {
    on.strokeStyle = colours.floor;
    on.lineWidth = Math.max(2, cell * 0.12);
    on.stroke();
  }
  on.fillStyle = colours.karel;
  on.fill();
  on.restore();
}
