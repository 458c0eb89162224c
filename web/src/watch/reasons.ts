// Why an action was taken, and what came of it, in words.

import type { Outcome } from "../contract";
import { task } from "../document";
import { EpisodeRollout } from "./episode";
import type { Rollout } from "./rollout";
import { WorldRollout } from "./world";

export interface Reasons {
  /** actions done, of how many */
  step: number;
  total: number;
  action: string | null;
  /** the statements around the action, outermost first, with what was found if one was looked at just now */
  around: string[];
  tests: { text: string; holds: boolean }[];
  perceived: { name: string; holds: boolean; privileged: boolean }[];
  /** what the program sees, of an environment */
  state: string | null;
  effect: string;
  value: number | null;
  gained: number | null;
  ending: string | null;
  lastTests: { text: string; holds: boolean }[];
}

const OUTCOMES = {
  halted: "The program came to its end.",
  "cut-off": "The run was cut off: it took all the steps that it may.",
  stuck: "The program is stuck: a loop can never act again.",
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
      .map((name, place) => ({ name, holds: bits[place] === "1", privileged: hidden.has(name) }))
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

/** perceptions that are shown one and all; of more, only those that the program asks about */
const MANY = 12;

function endingOf(outcome: Outcome): string {
  if (outcome !== "ended") return OUTCOMES[outcome];
  return task.value?.drawn === false
    ? "The environment ended the episode."
    : "The world ended the run: the task was decided.";
}

/** `WHILE c( not c( x c) c)` reads better without its brackets. */
function readable(head: string): string {
  return head.replace(/ ?\bc[()]/g, "").replace(/\bR=(\d+)/, "$1 times");
}
