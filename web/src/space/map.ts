// The map of programs: fetched once, when it is first shown.

import { effect, signal, untracked } from "@preact/signals";
import type { Point, SpaceMap } from "../contract";
import { mode, task } from "../document";
import { fresh, score } from "../score/scoring";
import { Away, get, post, Refusal, returned } from "../server";

export const map = signal<SpaceMap | null>(null);
export const mapProblem = signal<string | null>(null);
/** the editor's program on the map */
export const herePoint = signal<Point | null>(null);

let asking = false;

async function fetchMap(): Promise<void> {
  if (map.value || asking) return;
  asking = true;
  try {
    map.value = await get<SpaceMap>("api/space/map");
    mapProblem.value = null;
  } catch (error) {
    if (error instanceof Refusal) {
      mapProblem.value = error.message;
      if (error.status === 503) setTimeout(() => void fetchMap(), 1000 * (error.retry ?? 1));
    } else if (!(error instanceof Away)) throw error;
  } finally {
    asking = false;
  }
}

const SETTLED = 250;

export function keepMap(): void {
  effect(() => {
    void returned.value;
    if (task.value?.mapped && (mode.value === "space" || mode.value === "search")) untracked(() => void fetchMap());
  });
  let stop = new AbortController();
  effect(() => {
    const scored = score.value;
    if (mode.value !== "space" || !scored || !map.value || !fresh.value) return undefined;
    const timer = setTimeout(async () => {
      stop.abort();
      stop = new AbortController();
      const mine = stop.signal;
      try {
        const answer = await post<{ points: Point[] }>(
          "api/space/place",
          { programs: [scored.program] },
          mine,
        );
        herePoint.value = answer.points[0] ?? null;
      } catch {
        if (!mine.aborted) herePoint.value = null; // the program is too long, or the server does not answer
      }
    }, SETTLED);
    return () => clearTimeout(timer);
  });
}
