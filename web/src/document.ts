// What is being worked on: the program, the task and the worlds. Everything else follows from it.

import { computed, signal } from "@preact/signals";
import type { Size, World } from "./contract";
import { about, fitSize, taskNamed } from "./task";

export type Mode = "program" | "study" | "search" | "space" | "draw";
export const MODES: { mode: Mode; title: string; says: string }[] = [
  { mode: "program", title: "Program", says: "Edit a program, watch it, see what it is worth" },
  { mode: "study", title: "Study", says: "Improve a program with three or five edits" },
  { mode: "search", title: "Search", says: "Let the computer look for a program" },
  { mode: "space", title: "Space", says: "A map of programs, and walks between them" },
  { mode: "draw", title: "Draw", says: "Draw a world of your own" },
];

/** What a link or a file holds. */
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
/** how the program got here; the editor takes it over when this changes */
export const loads = signal(0);

export const task = computed(() => taskNamed(taskName.value));
export const sizeShown = computed<Size>(() => size.value ?? task.value?.size ?? [8, 8]);

/** Put a program into the editor; undo brings the one before back. */
export function load(text: string, options: { asOriginal: boolean }): void {
  program.value = text;
  if (options.asOriginal) original.value = text;
  loads.value += 1;
}

export function chooseTask(name: string, options: { withProgram: boolean }): void {
  const info = taskNamed(name);
  if (!info) return;
  taskName.value = name;
  size.value = fitSize(info, size.value);
  if (options.withProgram) load(info.program, { asOriginal: true });
}

export function newWorlds(): void {
  seed.value = Math.floor(Math.random() * 100_000);
}

/** Open what was shared; what doesn't make sense is left as it is. */
export function open(shared: Partial<Shared>): void {
  if (typeof shared.task === "string" && taskNamed(shared.task)) taskName.value = shared.task;
  if (Number.isInteger(shared.seed) && shared.seed! >= 0 && shared.seed! < 2 ** 31) seed.value = shared.seed!;
  const info = task.value;
  const asked = shared.size;
  if (info) size.value = fitSize(info, Array.isArray(asked) && asked.length === 2 ? asked : null);
  if (typeof shared.program === "string") {
    const most = about.value?.limits.characters ?? 4000;
    load(shared.program.slice(0, most), { asOriginal: true });
  }
}
