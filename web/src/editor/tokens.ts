// The words of a text: their colours, brackets and indentation. The server defines the words and the grammar.

import type { TokenKind } from "../contract";
import { language, moreWords } from "../document";

export interface Word {
  text: string;
  from: number;
  to: number;
}

const WORD = /#[^\n]*|[^\s#]+/g;

/** Split a text into words; a comment is one word that starts with #. */
export function* words(text: string): Generator<Word> {
  for (const match of text.matchAll(WORD)) {
    yield { text: match[0], from: match.index, to: match.index + match[0].length };
  }
}

export function kindOf(word: string): TokenKind | "comment" | "unknown" {
  if (word.startsWith("#")) return "comment";
  for (const known of [language.value?.words, moreWords.value])
    if (known && Object.hasOwn(known, word)) return known[word]!;
  return "unknown";
}

const isBracket = (word: string): boolean => kindOf(word) === "bracket";

/** The brackets of a text, each with its partner, or null where there is none of its kind. */
export function bracketPairs(text: string): { bracket: Word; partner: Word | null }[] {
  const open: Word[] = [];
  const pairs: { bracket: Word; partner: Word | null }[] = [];
  for (const word of words(text)) {
    if (!isBracket(word.text)) continue;
    if (word.text.endsWith("(")) {
      open.push(word);
      continue;
    }
    const partner = open.pop() ?? null;
    const fits = partner !== null && partner.text[0] === word.text[0];
    pairs.push({ bracket: word, partner: fits ? partner : null });
    if (partner) pairs.push({ bracket: partner, partner: fits ? word : null });
  }
  return [...pairs, ...open.map((bracket) => ({ bracket, partner: null }))];
}

/** How deep a line is indented: the blocks open before it, less one if it closes one. */
export function depthAt(before: string, line: string): number {
  let depth = 0;
  for (const { text } of words(before)) {
    if (/^[mwier]\($/.test(text)) depth += 1;
    if (/^[mwier]\)$/.test(text)) depth -= 1;
  }
  if (/^\s*[mwier]\)/.test(line)) depth -= 1;
  return Math.max(0, depth);
}
