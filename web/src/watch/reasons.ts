// The reasons for an action and its effect, as text.

import type { Outcome } from "../contract";
import { task } from "../document";
import { EpisodeRollout } from "./episode";
import type { Rollout } from "./rollout";
import { WorldRollout } from "./world";

export interface Reasons {
  /** number of actions so far */
  step: number;
  total: number;
  action: string | null;
  /** the statements around the action, outermost first */
  around: string[];
  tests: { text: string; holds: boolean }[];
  perceived: { name: string; holds: boolean; privileged: boolean }[];
  /** the observation, for environments */
  state: string | null;
  effect: string;
  value: number | null;
  gained: number | null;
  ending: string | null;
  lastTests: { text: string; holds: boolean }[];
}

const OUTCOMES = {
  halted: "The program ended.",
  "cut-off": "The run was cut off at the maximum number of steps.",
  stuck: "The program is stuck in a loop that takes no more actions.",
};
export const OUTCOME_WORDS = { halted: "halted", ended: "ended", "cut-off": "cut off", stuck: "stuck" };

export function reasonsAt(rollout: Rollout, position: number): Reasons {
  const { data } = rollout;
  const { statements, steps } = data;
  const done = Math.min(position, data.shown);
  const step = done - 1;
  const text = (statement: number): string => readable(statements[statement]?.text ?? "");
  const over = done === data.shown && data.shown === data.total;
  const bits = step >= 0 ? steps.perceived[step]! : (steps.perceived[0] ?? data.final_perceived);
  const hidden = new Set(task.value?.privileged);
  const asked = new Set(statements.flatMap((statement) => statement.text.split(" ")));
  const value = step >= 0 ? (steps.value[step] ?? null) : null;
  const before = step >= 1 ? (steps.value[step - 1] ?? 0) : 0;
  return {
    step: done,
    total: data.total,
    action: step >= 0 ? (statements[steps.statement[step]!]?.text ?? null) : null,
    around: step >= 0 ? (statements[steps.statement[step]!]?.path ?? []).map(text) : [],
    tests:
      step >= 0
        ? rollout.testsBefore(step).map((test) => ({ text: text(test.statement), holds: test.holds }))
        : [],
    perceived: data.perceptions
      .map((name, index) => ({ name, holds: bits[index] === "1", privileged: hidden.has(name) }))
      .filter(({ name }) => data.perceptions.length <= MANY || asked.has(name)),
    state: rollout instanceof EpisodeRollout ? (rollout.data.states[done] ?? null) : null,
    effect: step >= 0 && rollout instanceof WorldRollout ? rollout.effectOf(step) : "",
    value,
    gained: value === null ? null : value - before,
    ending: over && data.outcome ? endingOf(data.outcome) : null,
    lastTests: over
      ? data.final_tests.map(([statement, holds]) => ({ text: text(statement), holds: holds === 1 }))
      : [],
  };
}

/** maximum number of perceptions that are all shown; with more, only those in the program */
const MANY = 12;

function endingOf(outcome: Outcome): string {
  if (outcome !== "ended") return OUTCOMES[outcome];
  return task.value?.drawn === false
    ? "The environment ended the episode."
    : "The task ended the run.";
}

/** Remove the brackets of conditions: `WHILE not x`. */
function readable(head: string): string {
  return head.replace(/ ?\bc[()]/g, "").replace(/\bR=(\d+)/, "$1 times");
}
