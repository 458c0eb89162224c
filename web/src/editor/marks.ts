// Marks of the running statement: the last action, the statements around it, and the tested conditions.

import { type Range, RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  lineNumberMarkers,
} from "@codemirror/view";
import type { Span } from "../contract";

export interface Running {
  action: Span | null;
  around: Span[];
  tests: { span: Span; holds: boolean }[];
}

export const setRunning = StateEffect.define<Running | null>();

/** The value of a tested condition. It replaces the line number, so that it neither moves nor hides text. */
class Verdict extends GutterMarker {
  constructor(readonly holds: boolean) {
    super();
  }
  override eq(other: Verdict): boolean {
    return other.holds === this.holds;
  }
  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = this.holds ? "verdict verdict-true" : "verdict verdict-false";
    element.textContent = this.holds ? "true" : "false";
    return element;
  }
}

const action = Decoration.mark({ class: "running-action", attributes: { "data-testid": "running" } });
const line = Decoration.line({ class: "running-line" });
const around = Decoration.mark({ class: "running-around" });
const held = Decoration.mark({ class: "test-true" });
const failed = Decoration.mark({ class: "test-false" });

interface Marks {
  text: DecorationSet;
  lines: RangeSet<GutterMarker>;
}

const NONE: Marks = { text: Decoration.none, lines: RangeSet.empty };

function decorate(running: Running, text: Text): Marks {
  const inside = ([from, to]: Span): boolean => from < to && to <= text.length;
  const ranges: Range<Decoration>[] = running.around.filter(inside).map((span) => around.range(...span));
  const verdicts = new Map<number, Verdict>();
  const last = new Map(running.tests.map((test) => [test.span[0], test])); // a loop may test its condition twice
  for (const { span, holds } of last.values()) {
    if (!inside(span)) continue;
    ranges.push((holds ? held : failed).range(...span));
    const { from } = text.lineAt(span[0]);
    verdicts.set(from, new Verdict(holds));
  }
  if (running.action && inside(running.action)) {
    ranges.push(action.range(...running.action), line.range(text.lineAt(running.action[0]).from));
  }
  const lines = [...verdicts].map(([from, verdict]) => verdict.range(from));
  return { text: Decoration.set(ranges, true), lines: RangeSet.of(lines, true) };
}

export const runningMarks = StateField.define<Marks>({
  create: () => NONE,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setRunning)) {
        return effect.value ? decorate(effect.value, transaction.newDoc) : NONE;
      }
    }
    // The spans belong to the text that was run; an edit invalidates them.
    return transaction.docChanged ? NONE : marks;
  },
  provide: (field) => [
    EditorView.decorations.from(field, (marks) => marks.text),
    lineNumberMarkers.from(field, (marks) => marks.lines),
  ],
});
