// A rollout that can be looked at in any step.
//
// Steps are stored as changes with what was there before, so they can be undone as well as done: going from
// one step to another costs what lies between them. 20,000 steps are undone in less than a millisecond,
// which is why there are no copies of whole worlds in between.

import type { RolloutData } from "../contract";

const MARKERS = ".123456789A";
export const WALL = 255;

export class Rollout {
  readonly height: number;
  readonly width: number;
  /** [cells] WALL, or the markers at `position` */
  readonly cells: Uint8Array;
  /** how many actions were done */
  position = 0;

  private readonly changeStart: Int32Array;
  private readonly changedCell: Int32Array;
  private readonly before: Uint8Array;
  private readonly after: Uint8Array;
  private readonly testStart: Int32Array;

  constructor(
    readonly data: RolloutData,
    /** its number; a drawn world has none */
    readonly world?: number,
  ) {
    const { rows } = data.world;
    this.height = rows.length;
    this.width = rows[0]?.length ?? 0;
    this.cells = Uint8Array.from(rows.join(""), (symbol) =>
      symbol === "#" ? WALL : MARKERS.indexOf(symbol),
    );
    const { changes, tests } = data.steps;
    this.changeStart = starts(changes, data.shown);
    this.testStart = starts(tests, data.shown);
    this.changedCell = Int32Array.from(changes, ([, row, column]) => row * this.width + column);
    this.after = Uint8Array.from(changes, ([, , , markers]) => markers);
    this.before = new Uint8Array(changes.length);
    const now = this.cells.slice();
    for (let i = 0; i < changes.length; i++) {
      this.before[i] = now[this.changedCell[i]!]!;
      now[this.changedCell[i]!] = this.after[i]!;
    }
  }

  /** Go to a step; tells each cell that may have changed. */
  seek(position: number, changed: (cell: number) => void): void {
    const target = Math.max(0, Math.min(position, this.data.shown));
    const [from, to] = [this.changeStart[this.position]!, this.changeStart[target]!];
    for (let i = from; i < to; i++) this.put(this.changedCell[i]!, this.after[i]!, changed);
    for (let i = from - 1; i >= to; i--) this.put(this.changedCell[i]!, this.before[i]!, changed);
    this.position = target;
  }

  private put(cell: number, markers: number, changed: (cell: number) => void): void {
    this.cells[cell] = markers;
    changed(cell);
  }

  /** Karel's row, column and heading after so many actions. */
  pose(position: number): [row: number, column: number, heading: number] {
    const { steps, world } = this.data;
    const step = Math.min(position, this.data.shown) - 1;
    return step < 0 ? world.karel : [steps.row[step]!, steps.column[step]!, steps.heading[step]!];
  }

  /** The conditions looked at before an action. */
  testsBefore(step: number): { statement: number; holds: boolean }[] {
    return this.data.steps.tests
      .slice(this.testStart[step], this.testStart[step + 1])
      .map(([, statement, holds]) => ({ statement, holds: holds === 1 }));
  }

  /** The cells that an action, or the task after it, changed. */
  changesOf(step: number): { row: number; column: number; before: number; after: number }[] {
    const found = [];
    for (let i = this.changeStart[step]!; i < this.changeStart[step + 1]!; i++) {
      const cell = this.changedCell[i]!;
      const [row, column] = [Math.floor(cell / this.width), cell % this.width];
      found.push({ row, column, before: this.before[i]!, after: this.after[i]! });
    }
    return found;
  }
}

/** Where the entries of each step begin in a list that is ordered by step. */
function starts(entries: readonly (readonly number[])[], steps: number): Int32Array {
  const found = new Int32Array(steps + 1);
  let next = 0;
  for (let step = 0; step <= steps; step++) {
    while (next < entries.length && entries[next]![0]! < step) next += 1;
    found[step] = next;
  }
  found[steps] = entries.length;
  return found;
}
