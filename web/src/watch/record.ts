// The recording of any task's rollout: the statement of each step and the conditions tested before it.

import type { RolloutData } from "../contract";

export class Recorded<Data extends RolloutData = RolloutData> {
  private readonly testStart: Int32Array;

  constructor(
    readonly data: Data,
    /** the number of the world or episode; a drawn world has none */
    readonly index?: number,
  ) {
    this.testStart = starts(data.steps.tests, data.shown);
  }

  /** The conditions tested before an action. */
  testsBefore(step: number): { statement: number; holds: boolean }[] {
    return this.data.steps.tests
      .slice(this.testStart[step], this.testStart[step + 1])
      .map(([, statement, holds]) => ({ statement, holds: holds === 1 }));
  }
}

/** The index of each step's first entry in a list that is ordered by step. */
export function starts(entries: readonly (readonly number[])[], steps: number): Int32Array {
  const found = new Int32Array(steps + 1);
  let next = 0;
  for (let step = 0; step <= steps; step++) {
    while (next < entries.length && entries[next]![0]! < step) next += 1;
    found[step] = next;
  }
  found[steps] = entries.length;
  return found;
}
