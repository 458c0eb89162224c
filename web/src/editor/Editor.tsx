// The editor: a view on `program`, with errors underlined and the running statement marked.

import { closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, undo } from "@codemirror/commands";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, Transaction } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { effect, untracked, useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Check } from "../contract";
import { language, load, loads, moreWords, original, program, taskName } from "../document";
import { decimals } from "../score/numbers";
import { editedAt, issue, score } from "../score/scoring";
import { post } from "../server";
import { about } from "../task";
import { Button } from "../ui/Button";
import { narrow } from "../ui/narrow";
import { notify } from "../ui/notice";
import { pace, playing } from "../watch/player";
import { running } from "../watch/running";
import { completion } from "./completion";
import { INDENT, programs, recolour } from "./language";
import { runningMarks, setRunning } from "./marks";
import { depthAt } from "./tokens";

const FOLLOWED = 4; // at more than 2^4 steps per second, scrolling would only flicker
const MARGIN = 30; // pixels

function makeView(parent: HTMLElement): EditorView {
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: program.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        programs,
        completion,
        runningMarks,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Program", "data-testid": "editor", tabindex: "0" }),
        // Tab is not bound, so that the keyboard can leave the editor.
        keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          editedAt.value = performance.now();
          program.value = update.state.doc.toString();
        }),
      ],
    }),
  });
}

/** Take over a loaded program, as one step that undo reverts. */
function takeOver(view: EditorView): void {
  const text = program.peek();
  if (view.state.doc.toString() === text) return;
  closeCompletion(view);
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    selection: { anchor: 0 },
    annotations: [isolateHistory.of("full"), Transaction.userEvent.of("load")],
  });
}

function slowEnoughToFollow(): boolean {
  return !playing.peek() || pace.peek() <= FOLLOWED;
}

/** Scroll the editor, and not the page, to the running statement, unless the user is typing. */
function bringIntoView(view: EditorView, position: number): void {
  if (view.hasFocus) return;
  const { top, bottom } = view.lineBlockAt(position);
  const scroller = view.scrollDOM;
  if (top < scroller.scrollTop) scroller.scrollTop = top - MARGIN;
  else if (bottom + MARGIN > scroller.scrollTop + scroller.clientHeight) {
    scroller.scrollTop = bottom + MARGIN - scroller.clientHeight;
  }
}

function reindented(text: string): string {
  let before = "";
  const lines = text.split("\n").map((line) => {
    const depth = depthAt(before, line);
    before += `${line}\n`;
    return INDENT.repeat(depth) + line.trim();
  });
  return lines.join("\n");
}

function showIssue(view: EditorView): void {
  const found = issue.value;
  const length = view.state.doc.length;
  if (found && found.program !== view.state.doc.toString()) return; // the error is in an older text
  const diagnostics = found?.span
    ? [
        {
          from: Math.min(found.span[0], length),
          to: Math.min(found.span[1], length),
          severity: "error" as const,
          message: found.message,
        },
      ]
    : [];
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

export function Editor() {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);

  useEffect(() => {
    const made = makeView(host.current!);
    view.current = made;
    const stops = [
      effect(() => void (loads.value, takeOver(made))),
      effect(() => void (language.value, moreWords.value, made.dispatch({ effects: recolour.of(null) }))),
      effect(() => showIssue(made)),
      effect(() => {
        const { text, marks } = running.value;
        untracked(() => {
          const shown = text === made.state.doc.toString() ? marks : null;
          made.dispatch({ effects: setRunning.of(shown) });
          if (shown?.action && slowEnoughToFollow()) bringIntoView(made, shown.action[0]);
        });
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      made.destroy();
    };
  }, []);

  const changed = useComputed(() => program.value !== original.value);

  async function format(): Promise<void> {
    const text = program.value;
    try {
      const answer = await post<Check>("api/check", { program: text, task: taskName.value });
      // The server's text has no comments. A program with comments keeps its lines and is only indented.
      if (answer.valid) load(text.includes("#") ? reindented(text) : answer.indented, { asOriginal: false });
      else notify(`Can't format an invalid program: ${answer.error.message}`);
    } catch (error) {
      notify(String((error as Error).message));
    }
  }

  return (
    <section class="panel editor" aria-labelledby="program-title">
      <header class="panel-head">
        <h2 id="program-title">Program</h2>
        <div class="row tight">
          <Button
            quiet
            testid="undo"
            label="Undo"
            icon="undo"
            onClick={() => view.current && undo(view.current)}
          />
          <Button
            quiet
            testid="redo"
            label="Redo"
            icon="redo"
            onClick={() => view.current && redo(view.current)}
          />
          <Button
            quiet
            testid="revert"
            disabled={!changed.value}
            title="Restore the original program"
            onClick={() => load(original.value, { asOriginal: false })}
          >
            Original
          </Button>
          <Button quiet testid="format" title="One statement per line, blocks indented" onClick={format}>
            Format
          </Button>
        </div>
      </header>
      <div class="editor-host" ref={host} />
      <IssueLine />
    </section>
  );
}

function IssueLine() {
  const found = issue.value;
  const limit = about.value?.limits.characters ?? 4000;
  const tooLong = program.value.length > limit;
  const line = found?.span && program.value.slice(0, found.span[0]).split("\n").length;
  return (
    <p class={`issue ${found || tooLong ? "issue-bad" : "issue-fine"}`} role="status" data-testid="issue">
      <span class="issue-label">Issue with code?</span>{" "}
      {tooLong
        ? `Longer than ${limit.toLocaleString("en")} characters.`
        : found
          ? `${line ? `Line ${line}: ` : ""}${found.message}`
          : `None. ${score.value ? `${score.value.tokens} tokens.` : ""}`}
      {!found && narrow.value && score.value && (
        <span class="issue-return">
          {" "}
          Return <b>{decimals(score.value.mean)}</b>
        </span>
      )}
    </p>
  );
}
