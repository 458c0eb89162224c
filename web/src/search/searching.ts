// One live search: what it has told so far.

import { computed, signal } from "@preact/signals";
import type { Place, SearchEnd, SearchStep } from "../contract";
import { size, taskName } from "../document";
import { listen } from "../server";
import { say } from "../ui/notice";

export const METHODS = [
  { value: "ladder", title: "Ladder (the default)" },
  { value: "leaps+", title: "LEAPS+ (the paper's, improved)" },
  { value: "leaps", title: "LEAPS (as published)" },
  { value: "hc", title: "Hill climbing" },
  { value: "cebs", title: "Beam search (CEBS)" },
  { value: "random-64", title: "Random, 64 programs" },
] as const;
export const MOST = 1_000_000;

export const method = signal<string>("ladder");
export const searchSeed = signal(0);
export const budget = signal(50_000);
/** other sizes at which the program has to hold, as they are typed: "16x16, 40x40" */
export const also = signal("");

export interface Search {
  task: string;
  state: "running" | "stopped" | "ended" | "failed";
  curve: { evaluations: number; best: number; mean: number }[];
  last: SearchStep | null;
  population: Place[];
  program: string;
  /** the best one before `program` */
  before: string;
  end: SearchEnd | null;
  problem: string | null;
}

export const search = signal<Search | null>(null);
export const searching = computed(() => search.value?.state === "running");

let stopper = new AbortController();

export async function start(): Promise<void> {
  stopper.abort();
  const mine = new AbortController();
  stopper = mine;
  const asked = new URLSearchParams({
    task: taskName.value,
    method: method.value,
    seed: String(searchSeed.value),
    budget: String(budget.value),
  });
  if (size.value) asked.set("size", size.value.join("x"));
  const sizes = also.value.replaceAll(/[X×]/g, "x").split(",").map((each) => each.trim());
  const others = sizes.filter((each) => each !== "");
  const wrong = others.find((each) => !/^\d{1,3}x\d{1,3}$/.test(each));
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
    problem: wrong === undefined ? null : `Also at: expected sizes such as 16x16, 40x40, found “${wrong}”.`,
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
      else if (event === "end") update(afterEnd(now, data as SearchEnd));
      else if (event === "problem") update({ state: "failed", problem: (data as { error: string }).error });
    });
    if (search.peek()?.state === "running") update({ state: "failed", problem: "The search broke off." });
  } catch (error) {
    if (mine.signal.aborted) return;
    update({ state: "failed", problem: (error as Error).message });
    say((error as Error).message);
  }
}

export function stop(): void {
  stopper.abort();
  if (search.value?.state === "running") search.value = { ...search.value, state: "stopped" };
}

function afterStep(now: Search, step: SearchStep): Partial<Search> {
  const point = { evaluations: step.evaluations, best: step.best_so_far, mean: step.mean };
  return {
    last: step,
    curve: [...now.curve, point],
    population: step.population ?? now.population,
    ...(step.program && step.program !== now.program ? { program: step.program, before: now.program } : {}),
  };
}

function afterEnd(now: Search, end: SearchEnd): Partial<Search> {
  const changed = end.program !== now.program;
  return { state: "ended", end, ...(changed ? { program: end.program, before: now.program } : {}) };
}
