// The document: program, task and worlds. Everything else on the page is computed from it.

import { batch, computed, signal } from "@preact/signals";
import type { LanguageInfo, Sides, Size, TaskInfo, TokenKind, World } from "./contract";
import { about, fitSize, languageOf, taskNamed } from "./task";

export type Mode = "program" | "study" | "search" | "space" | "draw";
export const MODES: { mode: Mode; title: string; hint: string; fits?: (task: TaskInfo) => boolean }[] = [
  { mode: "program", title: "Program", hint: "Edit a program, watch it and see its return" },
  { mode: "study", title: "Study", hint: "Improve a program with three or five edits" },
  { mode: "search", title: "Search", hint: "Search for a program" },
  { mode: "space", title: "Space", hint: "A map of programs, and walks between them", fits: (task) => task.mapped },
  { mode: "draw", title: "Draw", hint: "Draw your own world", fits: (task) => task.drawn },
];

/** The contents of a link or a file. */
export interface Shared {
  program: string;
  task: string;
  seed: number;
  size: Size | null;
  world?: World;
}

export const mode = signal<Mode>("program");
export const program = signal("");
export const taskName = signal("");
export const seed = signal(0);
/** null: the task's own size */
export const size = signal<Size | null>(null);
/** the program that edits are compared with */
export const original = signal("");
/** number of loaded programs; the editor takes over the program when it changes */
export const loads = signal(0);

export const task = computed(() => taskNamed(taskName.value));
export const language = computed<LanguageInfo | null>(() => languageOf(task.value));
/** words seen in programs, for languages with more words than can be listed */
export const moreWords = signal<Record<string, TokenKind>>({});

export function learnWords(words: Record<string, TokenKind> | undefined): void {
  if (words && Object.keys(words).some((word) => !(word in moreWords.peek())))
    moreWords.value = { ...moreWords.peek(), ...words };
}
/** name of an initial state, singular and plural */
export const unit = computed(() => task.value?.unit ?? "world");
export const units = computed(() => `${unit.value}s`);
export const sidesShown = computed<Sides>(() =>
  Array.isArray(size.value) ? size.value : (task.value?.size ?? [8, 8]),
);

export const capital = (word: string): string => `${word[0]!.toUpperCase()}${word.slice(1)}`;

/** The modes available for the task. */
export const modes = computed(() => MODES.filter(({ fits }) => !fits || !task.value || fits(task.value)));

/** Put a program into the editor; undo restores the previous one. */
export function load(text: string, options: { asOriginal: boolean }): void {
  program.value = text;
  if (options.asOriginal) original.value = text;
  loads.value += 1;
}

export function chooseTask(name: string, options: { withProgram: boolean }): void {
  const info = taskNamed(name);
  if (!info) return;
  // A program in another language would be invalid as a whole.
  const foreign = languageOf(info) !== language.value;
  batch(() => {
    taskName.value = name;
    size.value = fitSize(info, size.value);
    if (!modes.value.some((item) => item.mode === mode.value)) mode.value = "program";
    if (options.withProgram || foreign) load(info.program, { asOriginal: true });
  });
}

export function newWorlds(): void {
  seed.value = Math.floor(Math.random() * 100_000);
}

/** Open a shared document; invalid fields are ignored. */
export function open(shared: Partial<Shared>): void {
  if (typeof shared.task === "string" && taskNamed(shared.task)) taskName.value = shared.task;
  if (Number.isInteger(shared.seed) && shared.seed! >= 0 && shared.seed! < 2 ** 31) seed.value = shared.seed!;
  const info = task.value;
  if (info) size.value = fitSize(info, shared.size);
  if (typeof shared.program === "string") {
    const most = about.value?.limits.characters ?? 4000;
    load(shared.program.slice(0, most), { asOriginal: true });
  }
}
