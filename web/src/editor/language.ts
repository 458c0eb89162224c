// Programs in the editor: colours, matching brackets, indentation.

import { indentOnInput, indentService, indentUnit } from "@codemirror/language";
import { EditorState, type Extension, StateEffect } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { bracketPairs, depthAt, kindOf } from "./tokens";

export const INDENT = "  ";

const decorator = new MatchDecorator({
  regexp: /#.*|[^\s#]+/g,
  decoration: (match) => Decoration.mark({ class: `token-${kindOf(match[0])}` }),
});

/** Recolour the text: another task may have other words. */
export const recolour = StateEffect.define<null>();

const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorator.createDeco(view);
    }
    update(update: ViewUpdate): void {
      const again = update.transactions.some(({ effects }) => effects.some((effect) => effect.is(recolour)));
      this.decorations = again
        ? decorator.createDeco(update.view)
        : decorator.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const matched = Decoration.mark({ class: "bracket-matched" });
const lonely = Decoration.mark({ class: "bracket-lonely" });

/** The bracket at the cursor and its partner. Programs are short, so a search through the whole text is fast. */
function bracketsAt(state: EditorState): DecorationSet {
  const { head, empty } = state.selection.main;
  if (!empty) return Decoration.none;
  const pair = bracketPairs(state.doc.toString()).find(
    ({ bracket }) => bracket.from <= head && head <= bracket.to,
  );
  if (!pair) return Decoration.none;
  const ends = pair.partner ? [pair.bracket, pair.partner] : [pair.bracket];
  return Decoration.set(
    ends.map(({ from, to }) => (pair.partner ? matched : lonely).range(from, to)),
    true,
  );
}

const brackets = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = bracketsAt(view.state);
    }
    update(update: ViewUpdate): void {
      if (update.docChanged || update.selectionSet) this.decorations = bracketsAt(update.state);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const indentation = indentService.of((context, position) => {
  const line = context.state.doc.lineAt(position);
  const before = context.state.sliceDoc(0, Math.min(position, line.from)) + pendingBreak(context, position);
  const rest = context.simulatedBreak === null ? line.text : context.state.sliceDoc(position, line.to);
  return depthAt(before, rest) * INDENT.length;
});

/** When Enter splits a line, the text left of the split belongs to the text before. */
function pendingBreak(
  context: { simulatedBreak: number | null; state: EditorState },
  position: number,
): string {
  if (context.simulatedBreak === null) return "";
  return context.state.sliceDoc(context.state.doc.lineAt(position).from, position);
}

export const programs: Extension = [
  colours,
  brackets,
  indentation,
  indentUnit.of(INDENT),
  indentOnInput(),
  EditorState.languageData.of(() => [{ indentOnInput: /^\s*[mwier]\)$/, commentTokens: { line: "#" } }]),
];
