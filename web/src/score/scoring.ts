// Score the current program after each edit, along with the original and the best one.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { Evaluation, Scored, Size, Span } from "../contract";
import { learnWords, original, program, seed, size, task, taskName } from "../document";
import { Away, post, Refusal, returned } from "../server";

const DEBOUNCE = 20; // milliseconds; edits within this time make one request
const BUSY = 300; // milliseconds before a retry at a busy server

export const EPISODES = [20, 100, 1000] as const;
/** number chosen by the user; null: the task's default */
export const episodesWanted = signal<number | null>(null);
export const episodes = computed(() => episodesWanted.value ?? task.value?.episodes ?? 100);

interface Worlds {
  task: string;
  size: Size | null;
  seed: number;
  episodes: number;
}

export interface Score extends Scored {
  program: string;
  worlds: Worlds;
}

/** when the text last changed, by the clock of the page */
export const editedAt = signal(0);
export interface Issue {
  message: string;
  /** position in the program; null if the error is in a user task */
  span: Span | null;
  /** the text that has the issue */
  program: string;
}

/** why the program can't be run */
export const issue = signal<Issue | null>(null);
/** score of the last program that could be run */
export const score = signal<Score | null>(null);
export const originalScore = signal<Score | null>(null);
export const best = signal<Score | null>(null);
/** time of the edit that `score` belongs to */
export const answeredEdit = signal(0);

/** whether the score shown is that of the text in the editor */
export const fresh = computed(() => score.value?.program === program.value && issue.value === null);

const sameWorlds = (a: Worlds, b: Worlds): boolean =>
  a.task === b.task &&
  a.seed === b.seed &&
  a.episodes === b.episodes &&
  String(a.size) === String(b.size);
/** Whether two requests differ only in seed and number of episodes. */
const sameKind = (a: Worlds, b: Worlds): boolean =>
  sameWorlds({ ...a, seed: 0, episodes: 0 }, { ...b, seed: 0, episodes: 0 });

async function evaluate(text: string, worlds: Worlds, from: string, stop: AbortSignal): Promise<Evaluation> {
  return await post<Evaluation>(
    "api/evaluate",
    {
      program: text,
      task: worlds.task,
      seed: worlds.seed,
      episodes: worlds.episodes,
      original: from,
      ...(worlds.size ? { size: worlds.size } : {}),
    },
    stop,
  );
}

let asking = new AbortController();

async function ask(text: string, worlds: Worlds, from: string, edited: number): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const stop = asking.signal;
  try {
    const answer = await evaluate(text, worlds, from, stop);
    if (!answer.valid) {
      issue.value = { ...answer.error, program: text };
      return;
    }
    const scored = { ...answer, program: text, worlds };
    const before = best.peek();
    batch(() => {
      issue.value = null;
      learnWords(answer.words);
      answeredEdit.value = edited;
      score.value = scored;
      if (!before || !sameKind(before.worlds, worlds)) best.value = scored;
      else if (sameWorlds(before.worlds, worlds) && scored.mean > before.mean) best.value = scored;
    });
    await askOthers(scored, from, stop);
  } catch (error) {
    if (stop.aborted || error instanceof Away) return; // a newer text or the returning server starts a new request
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 503) setTimeout(() => !stop.aborted && void ask(text, worlds, from, edited), BUSY);
    else issue.value = { message: error.message, span: null, program: text };
  }
}

/** Score the original and the best program on the same worlds. */
async function askOthers(scored: Score, from: string, stop: AbortSignal): Promise<void> {
  const { worlds } = scored;
  const known = originalScore.peek();
  if (!known || known.program !== from || !sameWorlds(known.worlds, worlds)) {
    if (from === scored.program) originalScore.value = scored;
    else {
      originalScore.value = null;
      const answer = await evaluate(from, worlds, from, stop);
      if (answer.valid) originalScore.value = { ...answer, program: from, worlds };
    }
  }
  const before = best.peek();
  if (before && !sameWorlds(before.worlds, worlds)) {
    const answer = await evaluate(before.program, worlds, from, stop);
    if (!answer.valid) return;
    best.value = answer.mean >= scored.mean ? { ...answer, program: before.program, worlds } : scored;
  }
}

export function keepScoring(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const worlds = {
      task: taskName.value,
      size: size.value,
      seed: seed.value,
      episodes: episodes.value,
    };
    const text = program.value;
    const from = original.value;
    void returned.value;
    clearTimeout(timer);
    if (!worlds.task) return;
    const edited = untracked(() => editedAt.value);
    timer = setTimeout(() => void ask(text, worlds, from, edited), DEBOUNCE);
  });
}
