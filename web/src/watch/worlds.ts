// The watched worlds, and the rollouts of the current program in them.

import { effect, signal, untracked } from "@preact/signals";
import type { EpisodeData, WorldData } from "../contract";
import { mode, taskName } from "../document";
import { drawnWorld, rules } from "../draw/drawing";
import { score } from "../score/scoring";
import { Away, post, Refusal, returned } from "../server";
import { longest, playing, position, rolledText, rollouts, selected, show } from "./player";
import { rolloutOf } from "./rollout";

type Watched = WorldData | EpisodeData;

export const COUNTS = [1, 2, 4, 6] as const;

/** the numbers of the watched worlds */
export const indices = signal<number[]>([0, 1, 2, 3]);
export const problem = signal<string | null>(null);

export function setCount(count: number): void {
  const kept = indices.value.slice(0, count);
  for (let next = 0; kept.length < count; next++) if (!kept.includes(next)) kept.push(next);
  indices.value = kept;
  selected.value = Math.min(selected.value, count - 1);
}

/** Watch a world instead of the selected one. */
export function watchWorld(index: number): void {
  const there = indices.value.indexOf(index);
  if (there >= 0) selected.value = there;
  else indices.value = indices.value.map((other, slot) => (slot === selected.value ? index : other));
  position.value = 0;
  if (mode.value === "draw" || mode.value === "search") mode.value = "program";
}

/** The request for the selected world's rollout, also used for a GIF. */
export function selectedRequest(): object | null {
  const ran = score.value;
  if (!ran) return null;
  const drawn = drawnRequest();
  if (drawn) return { program: ran.program, ...drawn };
  const { task, size, seed } = ran.worlds;
  return {
    program: ran.program,
    task,
    seed,
    ...(size ? { size } : {}),
    index: indices.value[selected.value] ?? 0,
  };
}

function drawnRequest(): object | null {
  if (mode.value !== "draw") return null;
  return { world: drawnWorld.value, task: rules.value ? taskName.value : null };
}

export function keepRolling(): void {
  let asking = new AbortController();
  let shownBody = "";

  async function roll(text: string, body: string, many: boolean): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const stop = asking.signal;
    try {
      const asked = JSON.parse(body) as { indices?: number[] };
      const { indices: numbers, ...rest } = asked;
      const found = many
        ? (await post<{ rollouts: Watched[] }>("api/rollouts", asked, stop)).rollouts
        : [await post<Watched>("api/rollout", asked, stop)];
      if (stop.aborted) return;
      // If the user has paused at a step, stay there; otherwise play.
      const idle = rollouts.value.length === 0 || playing.value || position.value >= longest.value;
      problem.value = null;
      shownBody = body;
      show(
        found.map((data, index) => rolloutOf(data, { ...rest, index: numbers?.[index] }, numbers?.[index])),
        text,
        idle,
      );
    } catch (error) {
      if (stop.aborted || error instanceof Away) return;
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 503) setTimeout(() => !stop.aborted && void roll(text, body, many), 500);
      else problem.value = error.message;
    }
  }

  effect(() => {
    const ran = score.value;
    void returned.value;
    if (!ran) return;
    const drawn = drawnRequest();
    const { task, size, seed } = ran.worlds;
    const many = { task, seed, ...(size ? { size } : {}), indices: indices.value };
    const body = JSON.stringify({ program: ran.program, ...(drawn ?? many) });
    if (body !== shownBody || untracked(() => rolledText.value) !== ran.program) {
      untracked(() => void roll(ran.program, body, !drawn));
    }
  });
}
