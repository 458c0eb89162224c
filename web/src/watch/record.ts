// What every task's rollout has: which statement acted in each step, and what it had looked at.

import type { RolloutData } from "../contract";

export class Recorded<Data extends RolloutData = RolloutData> {
  private readonly testStart: Int32Array;

  constructor(
    readonly data: Data,
    /** its number; a drawn world has none */
    readonly index?: number,
  ) {
    this.testStart = starts(data.steps.tests, data.shown);
  }

  /** The conditions looked at before an action. */
  testsBefore(step: number): { statement: number; holds: boolean }[] {
    return this.data.steps.tests
      .slice(this.testStart[step], this.testStart[step + 1])
      .map(([, statement, holds]) => ({ statement, holds: holds === 1 }));
  }
}

/** Where the entries of each step begin in a list that is ordered by step. */
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
