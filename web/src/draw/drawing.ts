// A world drawn by hand.

import { signal } from "@preact/signals";
import type { Sides, World } from "../contract";

export const SMALLEST = 3;
export const LARGEST = 40;
export const TOOLS = [
  { value: "wall", title: "Wall" },
  { value: "floor", title: "Floor" },
  { value: "more", title: "Marker +" },
  { value: "less", title: "Marker −" },
  { value: "karel", title: "Karel" },
] as const;
export type Tool = (typeof TOOLS)[number]["value"];

const MARKERS = ".123456789A";

/** An empty room. */
export function emptyWorld([height, width]: Sides): World {
  const wall = "#".repeat(width);
  const floor = `#${".".repeat(width - 2)}#`;
  const rows = Array.from({ length: height }, (_, row) => (row === 0 || row === height - 1 ? wall : floor));
  return { rows, karel: [height - 2, 1, 1] };
}

export const drawnWorld = signal<World>({
  rows: [
    "##########",
    "#....#...#",
    "#.11.#.2.#",
    "#.11...2.#",
    "#....#...#",
    "###.######",
    "#........#",
    "#...1....#",
    "#........#",
    "##########",
  ],
  karel: [8, 1, 1],
});
/** whether the chosen task's rules apply in the drawn world */
export const rules = signal(false);
export const tool = signal<Tool>("wall");

export function sizeOf(world: World): Sides {
  return [world.rows.length, world.rows[0]?.length ?? 0];
}

function isInside(world: World, row: number, column: number): boolean {
  const [height, width] = sizeOf(world);
  return row > 0 && column > 0 && row < height - 1 && column < width - 1;
}

function withCell(world: World, row: number, column: number, symbol: string): World {
  const rows = world.rows.map((line, at) =>
    at === row ? line.slice(0, column) + symbol + line.slice(column + 1) : line,
  );
  return { ...world, rows };
}

/** Use a tool on a cell. The border stays wall, and Karel's cell stays free. */
export function draw(world: World, using: Tool, row: number, column: number): World {
  if (!isInside(world, row, column)) return world;
  const symbol = world.rows[row]![column]!;
  const [karelRow, karelColumn, heading] = world.karel;
  const onKarel = row === karelRow && column === karelColumn;
  const markers = MARKERS.indexOf(symbol);
  switch (using) {
    case "wall":
      return onKarel ? world : withCell(world, row, column, "#");
    case "floor":
      return withCell(world, row, column, ".");
    case "more":
      return withCell(world, row, column, MARKERS[Math.min(Math.max(markers, 0) + 1, MARKERS.length - 1)]!);
    case "less":
      return markers > 0 ? withCell(world, row, column, MARKERS[markers - 1]!) : world;
    case "karel":
      if (onKarel) return { ...world, karel: [row, column, (heading + 1) % 4] };
      return {
        ...withCell(world, row, column, symbol === "#" ? "." : symbol),
        karel: [row, column, heading],
      };
  }
}

/** Change the size; cells that fit keep their contents. */
export function resize(world: World, size: Sides): World {
  const fresh = emptyWorld(size);
  const rows = fresh.rows.map((line, row) =>
    Array.from(line, (symbol, column) =>
      isInside(fresh, row, column) && isInside(world, row, column) ? world.rows[row]![column]! : symbol,
    ).join(""),
  );
  const [row, column, heading] = world.karel;
  const pose: World["karel"] = isInside(fresh, row, column) ? [row, column, heading] : fresh.karel;
  const resized: World = { rows, karel: pose };
  return rows[pose[0]]![pose[1]] === "#" ? withCell(resized, pose[0], pose[1], ".") : resized;
}

/** Whether a value from a link, a file or storage is a world that can be shown. */
export function isWorld(value: unknown): value is World {
  const { rows, karel } = (value ?? {}) as Partial<World>;
  if (!Array.isArray(rows) || !Array.isArray(karel) || karel.length !== 3) return false;
  const width = rows[0]?.length ?? 0;
  const fits = (side: number): boolean => side >= SMALLEST && side <= LARGEST;
  if (!fits(rows.length) || !fits(width)) return false;
  if (!rows.every((row) => typeof row === "string" && row.length === width && /^[#.1-9A]+$/.test(row)))
    return false;
  const border = [rows[0], rows.at(-1), ...rows.map((row) => row[0] + row.at(-1)!)];
  if (!border.every((cells) => /^#+$/.test(cells!))) return false;
  const [row, column, heading] = karel;
  if (![row, column, heading].every(Number.isInteger)) return false;
  return heading >= 0 && heading < 4 && isInside({ rows, karel }, row, column) && rows[row]![column] !== "#";
}
