// The paper's experiment: improve a given program within a budget of edited statements.

import { computed, effect, signal, untracked } from "@preact/signals";
import { chooseTask, load, mode, seed, size } from "../document";
import { fresh, score } from "../score/scoring";
import { keep, recall } from "../storage";
import { about, taskNamed } from "../task";

export const BUDGETS = [3, 5] as const;
const SETTLED = 400; // milliseconds without an edit before a program is added to the history
const SEED = 0; // all participants have the same worlds

export interface Edit {
  seconds: number;
  program: string;
  distance: number;
  mean: number;
}

export interface Study {
  task: string;
  program: string;
  budget: number;
  reported: Record<string, number> | null;
  /** milliseconds since 1970 */
  began: number;
  ended: number | null;
  edits: Edit[];
}

export const study = signal<Study | null>(null);

/** whether the editor's program belongs to the study */
export const inStudy = computed(() => mode.value === "study" && study.value !== null);
export const used = computed(() => (inStudy.value ? (score.value?.distance ?? 0) : 0));
export const overBudget = computed(() => study.value !== null && used.value > study.value.budget);

export const counts = (edit: Edit, of: Study): boolean => edit.distance <= of.budget;

/** The best program within the budget, including the first one. */
export function bestOf(of: Study): Edit | null {
  const counted = of.edits.filter((edit) => counts(edit, of));
  return counted.reduce<Edit | null>((best, edit) => (best && best.mean >= edit.mean ? best : edit), null);
}

export function begin(task: string, program: string, budget: number): void {
  const reported = about.value?.study.find(
    (item) => item.task === task && item.program === program,
  )?.reported;
  study.value = {
    task,
    program,
    budget,
    reported: reported ?? null,
    began: Date.now(),
    ended: null,
    edits: [],
  };
  chooseTask(task, { withProgram: false });
  seed.value = SEED;
  size.value = null;
  load(program, { asOriginal: true });
}

export function finish(): void {
  if (study.value) study.value = { ...study.value, ended: Date.now() };
}

export function leave(): void {
  study.value = null;
}

/** Resume the study when its tab is opened again. */
export function resume(): void {
  const current = study.value;
  if (!current) return;
  chooseTask(current.task, { withProgram: false });
  seed.value = SEED;
  size.value = null;
  load(current.program, { asOriginal: true });
  const last = current.edits.at(-1);
  if (last) load(last.program, { asOriginal: false });
}

export function toFile(of: Study): object {
  const best = bestOf(of);
  return {
    kind: "leaps-study",
    version: about.value?.version ?? null,
    task: of.task,
    budget: of.budget,
    seed: SEED,
    seconds: ((of.ended ?? Date.now()) - of.began) / 1000,
    start: of.program,
    reported: of.reported,
    best: best && { program: best.program, distance: best.distance, return: best.mean },
    edits: of.edits.map((edit) => ({
      seconds: edit.seconds,
      distance: edit.distance,
      return: edit.mean,
      counted: counts(edit, of),
      program: edit.program,
    })),
  };
}

export function titleOf(task: string): string {
  return taskNamed(task)?.title ?? task;
}

export function keepStudy(): void {
  const last = recall<Study>("local", "study");
  // A study of a user task that this studio doesn't have stays stored until another study begins.
  if (last && taskNamed(last.task)) study.value = last;
  let changed = false;
  effect(() => {
    const now = study.value;
    if (changed) keep("local", "study", now);
    changed = true;
  });
  effect(() => {
    const scored = score.value;
    const current = untracked(() => study.value);
    if (!inStudy.value || !scored || !current || current.ended || !fresh.value) return undefined;
    if (scored.worlds.task !== current.task || scored.distance === undefined) return undefined;
    const { distance } = scored;
    const timer = setTimeout(() => {
      const now = study.peek();
      if (!now || now.ended || now.edits.at(-1)?.program === scored.program) return;
      const seconds = (Date.now() - now.began) / 1000;
      study.value = {
        ...now,
        edits: [...now.edits, { seconds, program: scored.program, distance, mean: scored.mean }],
      };
    }, SETTLED);
    return () => clearTimeout(timer);
  });
}
