// Completion: the tokens that the server reports as legal at the cursor.

import {
  autocompletion,
  type Completion as Option,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import type { Check, TokenKind } from "../contract";
import { task, taskName } from "../document";
import { post } from "../server";

const RANK: Record<TokenKind, number> = { action: 5, perception: 4, keyword: 3, count: 2, bracket: 1 };

/** After these the grammar leaves little choice, so the next completion is offered immediately. */
const LEADS_ON = /^(DEF|run|WHILE|IF|IFELSE|ELSE|REPEAT|not|c\()$/;

function insert(view: EditorView, option: Option, from: number, to: number): void {
  const leadsOn = LEADS_ON.test(option.label);
  const text = leadsOn ? `${option.label} ` : option.label;
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + text.length },
    userEvent: "input.complete",
  });
  if (leadsOn) startCompletion(view);
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[^\s#]+/)?.text ?? "";
  const stop = new AbortController();
  context.addEventListener("abort", () => stop.abort());
  let answer: Check;
  try {
    answer = await post<Check>(
      "api/check",
      { program: context.state.doc.toString(), cursor: context.pos, task: taskName.value },
      stop.signal,
    );
  } catch {
    return null;
  }
  const found = answer.complete;
  if (!found?.options.length || context.aborted) return null;
  const labels = found.options.map((option) => option.label);
  // A list that opens by itself must not take the Enter after a complete word or line.
  const atStatement = found.options.some((option) => option.kind === "action");
  if (!context.explicit && (labels.includes(word) || (word === "" && atStatement))) return null;
  return {
    from: found.from,
    options: found.options.map(({ label, kind }) => ({
      label,
      type: kind,
      detail: task.value?.privileged.includes(label) ? `${kind}, privileged` : kind,
      boost: RANK[kind],
      apply: insert,
    })),
  };
}

export const completion = autocompletion({
  override: [complete],
  icons: false,
  activateOnTypingDelay: 30,
  updateSyncTime: 60,
});
