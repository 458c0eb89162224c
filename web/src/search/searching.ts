// One live search: its events so far.

import { computed, signal } from "@preact/signals";
import type { Point, SearchEnd, SearchStep } from "../contract";
import { learnWords, size, task, taskName } from "../document";
import { listen } from "../server";
import { notify } from "../ui/notice";

export const MOST = 1_000_000;
/** maximum number of episodes in which each program is scored */
export const MOST_WORLDS = 256;

/** The user's settings for tasks of one language; the cost of a program differs between languages. */
interface Wanted {
  language: number;
  method?: string;
  budget?: number;
  worlds?: number;
}

const wanted = signal<Wanted | null>(null);
const fitting = computed(() => (wanted.value?.language === task.value?.language ? wanted.value : null));

export function want(change: Partial<Wanted>): void {
  wanted.value = { ...fitting.value, ...change, language: task.value?.language ?? 0 };
}

export const methods = computed(() => task.value?.methods ?? []);
export const method = computed(() => fitting.value?.method ?? methods.value[0]?.name ?? "ladder");
export const budget = computed(() => fitting.value?.budget ?? task.value?.search.budget ?? 50_000);
/** null: the method's default, which can't be changed */
export const worlds = computed(() => fitting.value?.worlds ?? task.value?.search.worlds ?? null);
export const searchSeed = signal(0);
/** other sizes or variants at which the program must work, as typed: "16x16, 40x40" */
export const also = signal("");

export interface Search {
  task: string;
  state: "running" | "judging" | "stopped" | "ended" | "failed";
  curve: { evaluations: number; best: number; mean: number }[];
  last: SearchStep | null;
  population: Point[];
  program: string;
  /** the previous best program */
  before: string;
  end: SearchEnd | null;
  problem: string | null;
}

export const search = signal<Search | null>(null);
const isRunning = (of: Search | null): boolean => of?.state === "running" || of?.state === "judging";
export const searching = computed(() => isRunning(search.value));

let stopper = new AbortController();

export async function start(): Promise<void> {
  stopper.abort();
  const mine = new AbortController();
  stopper = mine;
  const grid = task.value?.size != null;
  const known = task.value?.variants ?? [];
  const fits = (each: string): boolean => (grid ? /^\d{1,3}x\d{1,3}$/.test(each) : known.includes(each));
  const asked = new URLSearchParams({
    task: taskName.value,
    method: method.value,
    seed: String(searchSeed.value),
    budget: String(budget.value),
  });
  if (worlds.value !== null) asked.set("worlds", String(worlds.value));
  if (size.value) asked.set("size", Array.isArray(size.value) ? size.value.join("x") : size.value);
  const typed = also.value.split(",").map((each) => each.trim());
  const others = typed.filter((each) => each !== "").map((each) => (grid ? each.replaceAll(/[X×]/g, "x") : each));
  const wrong = others.find((each) => !fits(each));
  if (others.length) asked.set("also", others.join(","));
  search.value = {
    task: taskName.value,
    state: wrong === undefined ? "running" : "failed",
    curve: [],
    last: null,
    population: [],
    program: "",
    before: "",
    end: null,
    problem: wrong === undefined ? null : `Also at: expected ${grid ? "sizes such as 16x16, 40x40" : known.length ? `variants (${known.join(", ")})` : "nothing, as there are no variants"}, found “${wrong}”.`,
  };
  if (wrong !== undefined) return;
  const update = (change: Partial<Search>): void => {
    if (stopper === mine && search.value) search.value = { ...search.value, ...change };
  };
  try {
    await listen(`api/solve?${asked}`, mine.signal, (event, data) => {
      const now = search.peek();
      if (!now || stopper !== mine) return;
      if (event === "step") update(afterStep(now, data as SearchStep));
      else if (event === "judging") update({ state: "judging" });
      else if (event === "end") update(afterEnd(now, data as SearchEnd));
      else if (event === "problem") update({ state: "failed", problem: (data as { error: string }).error });
    });
    if (isRunning(search.peek())) update({ state: "failed", problem: "The search ended without a result." });
  } catch (error) {
    if (mine.signal.aborted) return;
    update({ state: "failed", problem: (error as Error).message });
    notify((error as Error).message);
  }
}

export function stop(): void {
  stopper.abort();
  const now = search.value;
  if (now && isRunning(now)) search.value = { ...now, state: "stopped" };
}

function afterStep(now: Search, step: SearchStep): Partial<Search> {
  learnWords(step.words);
  const point = { evaluations: step.evaluations, best: step.best_so_far, mean: step.mean };
  return {
    last: step,
    curve: [...now.curve, point],
    population: step.population ?? now.population,
    ...(step.program && step.program !== now.program ? { program: step.program, before: now.program } : {}),
  };
}

function afterEnd(now: Search, end: SearchEnd): Partial<Search> {
  learnWords(end.words);
  const changed = end.program !== now.program;
  return { state: "ended", end, ...(changed ? { program: end.program, before: now.program } : {}) };
}
