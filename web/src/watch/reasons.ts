// Why an action was taken, and what came of it, in words.

import { about } from "../task";
import type { Rollout } from "./rollout";

export interface Reasons {
  /** actions done, of how many */
  step: number;
  total: number;
  action: string | null;
  /** the statements around the action, outermost first, with what was found if one was looked at just now */
  around: string[];
  tests: { text: string; holds: boolean }[];
  perceived: { name: string; holds: boolean }[];
  effect: string;
  value: number | null;
  gained: number | null;
  ending: string | null;
  lastTests: { text: string; holds: boolean }[];
}

const HEADINGS = ["north", "east", "south", "west"];
const OUTCOMES = {
  halted: "The program came to its end.",
  ended: "The world ended the run: the task was decided.",
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
    perceived: (about.value?.perceptions ?? []).map((name, bit) => ({
      name,
      holds: ((bits >> bit) & 1) === 1,
    })),
    effect: step >= 0 ? effectOf(rollout, step) : "",
    value,
    gained: value === null ? null : value - before,
    ending: over ? OUTCOMES[data.outcome] : null,
    lastTests: over
      ? data.final_tests.map(([statement, holds]) => ({ text: text(statement), holds: holds === 1 }))
      : [],
  };
}

/** `WHILE c( not c( x c) c)` reads better without its brackets. */
function readable(head: string): string {
  return head.replace(/ ?\bc[()]/g, "").replace(/\bR=(\d+)/, "$1 times");
}

function effectOf(rollout: Rollout, step: number): string {
  const { statements, steps } = rollout.data;
  const action = statements[steps.statement[step]!]?.text;
  const [row, column] = rollout.pose(step);
  const [newRow, newColumn, heading] = rollout.pose(step + 1);
  const changes = rollout.changesOf(step);
  const here = changes.find((change) => change.row === row && change.column === column);
  const elsewhere = changes.filter((change) => change !== here || (action ?? "").startsWith("move")).length;
  const also = elsewhere
    ? ` The task changed ${elsewhere === 1 ? "a cell" : `${elsewhere} cells`}, too.`
    : "";
  const count = (markers: number): string => (markers === 1 ? "1 marker" : `${markers} markers`);
  switch (action) {
    case "move":
      if (row === newRow && column === newColumn) return `A wall was ahead, so Karel turned around.${also}`;
      return `Went ${HEADINGS[heading]} to row ${newRow}, column ${newColumn}.${also}`;
    case "turnLeft":
    case "turnRight":
      return `Now faces ${HEADINGS[heading]}.${also}`;
    case "pickMarker":
      return here
        ? `Picked one up: ${here.after ? count(here.after) : "none"} left here.${also}`
        : `There was no marker to pick up.${also}`;
    case "putMarker":
      return here
        ? `Put one down: ${count(here.after)} here now.${also}`
        : `No room: the cell is full.${also}`;
    default:
      return also.trim();
  }
}
