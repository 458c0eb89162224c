// The marks in the editor: the statements of the current step.

import { computed } from "@preact/signals";
import type { Span } from "../contract";
import type { Running } from "../editor/marks";
import { current, readPosition, rolledText } from "./player";

export const running = computed<{ text: string; marks: Running | null }>(() => {
  const rollout = current.value;
  const step = rollout ? Math.min(readPosition.value, rollout.data.shown) - 1 : -1;
  if (!rollout || step < 0) return { text: rolledText.value, marks: null };
  const { statements, steps } = rollout.data;
  const spanOf = (statement: number): Span => statements[statement]?.span ?? [0, 0];
  const statement = steps.statement[step]!;
  const tests = rollout
    .testsBefore(step)
    .map((test) => ({ span: spanOf(test.statement), holds: test.holds }));
  const around = (statements[statement]?.path ?? []).map(spanOf);
  return { text: rolledText.value, marks: { action: spanOf(statement), around, tests } };
});
