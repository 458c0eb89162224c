// The last state of the page: stored in the browser, and opened at the next visit.

import { effect } from "@preact/signals";
import type { World } from "./contract";
import {
  type Mode,
  mode,
  modes,
  open,
  original,
  program,
  type Shared,
  seed,
  size,
  task,
  taskName,
} from "./document";
import { drawnWorld, isWorld, rules } from "./draw/drawing";
import { fromHash } from "./share";
import { keep, recall } from "./storage";
import { about, taskNamed } from "./task";
import { notify } from "./ui/notice";
import { pace } from "./watch/player";
import { indices, setCount } from "./watch/worlds";

interface Remembered extends Shared {
  /** task and program of the command line when this was stored */
  start: string;
  original: string;
  mode: Mode;
  pace: number;
  count: number;
  drawn: World;
  rules: boolean;
}

const FIRST_TASK = "top-off"; // the default of the command line

/** Open, in this order: a link, the command line's program, the last state, a task's program. */
export function openFirst(): void {
  const known = about.value!;
  const last = recall<Partial<Remembered>>("local", "last");
  if (last) openPreferences(last);
  const link = fromHash(location.hash);
  const { start } = known;
  if (link) openLink(link);
  else if ((start.program || start.task) && last?.start !== JSON.stringify(start)) {
    const first = start.task ?? FIRST_TASK;
    open({ task: first, seed: 0, program: start.program ?? taskNamed(first)?.program ?? "" });
  } else if (last?.program && taskNamed(last.task ?? "")) {
    open(last);
    if (typeof last.original === "string") original.value = last.original;
    if (modes.value.some((item) => item.mode === last.mode)) mode.value = last.mode!;
  }
  if (!taskName.value || !program.value) {
    const first = taskNamed(start.task ?? FIRST_TASK) ?? known.tasks[0]!;
    // Keep the program of a link, also if this studio doesn't have its task.
    open({ task: first.name, program: program.value || first.program });
  }
}

function openPreferences(last: Partial<Remembered>): void {
  if (typeof last.pace === "number") pace.value = Math.max(0, Math.min(11, last.pace));
  if (typeof last.count === "number") setCount(Math.max(1, Math.min(6, last.count)));
  if (isWorld(last.drawn)) drawnWorld.value = last.drawn;
  rules.value = last.rules === true;
}

/** Open a link: in Draw, if it has a drawn world. Then remove it from the address. */
export function openLink(shared: Partial<Shared>): void {
  open({ seed: 0, size: null, ...shared });
  if (typeof shared.task === "string" && !taskNamed(shared.task))
    notify(`This studio has no task ${shared.task.slice(0, 64)}.`);
  if (isWorld(shared.world) && task.value?.drawn) {
    drawnWorld.value = shared.world;
    mode.value = "draw";
  } else mode.value = "program";
  history.replaceState(null, "", location.pathname + location.search);
}

export function sharedNow(): Shared {
  return {
    program: program.value,
    task: taskName.value,
    seed: seed.value,
    size: size.value,
    ...(mode.value === "draw" ? { world: drawnWorld.value } : {}),
  };
}

export function keepMemory(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const now: Remembered = {
      program: program.value,
      task: taskName.value,
      seed: seed.value,
      size: size.value,
      original: original.value,
      mode: mode.value,
      pace: pace.value,
      count: indices.value.length,
      drawn: drawnWorld.value,
      rules: rules.value,
      start: JSON.stringify(about.value?.start ?? null),
    };
    clearTimeout(timer);
    timer = setTimeout(() => keep("local", "last", now), 200);
  });
  addEventListener("hashchange", () => {
    const link = fromHash(location.hash);
    if (link) openLink(link);
  });
}
