// A walk in the space, from one program to another.

import { effect, signal, untracked } from "@preact/signals";
import type { Walk } from "../contract";
import { Away, post } from "../server";

const STEPS = 21;

export const ends = signal<{ a: string | null; b: string | null }>({ a: null, b: null });
export const walk = signal<Walk | null>(null);
export const walkAt = signal(0);
export const walkProblem = signal<string | null>(null);

export function keepWalking(): void {
  let stop = new AbortController();
  effect(() => {
    const { a, b } = ends.value;
    stop.abort();
    stop = new AbortController();
    if (a === null || b === null) return;
    const mine = stop.signal;
    untracked(() => void decode(a, b, mine));
  });
}

/** Decode all programs of the walk in one request, so that the slider needs none. */
async function decode(from: string, to: string, stop: AbortSignal): Promise<void> {
  try {
    walk.value = await post<Walk>("api/space/between", { from, to, steps: STEPS }, stop);
    walkAt.value = 0;
    walkProblem.value = null;
  } catch (error) {
    if (stop.aborted || error instanceof Away) return;
    walk.value = null;
    walkProblem.value = (error as Error).message;
  }
}
