// What the server offers, and sizes that a task takes.

import { signal } from "@preact/signals";
import type { About, Size, TaskInfo } from "./contract";

export const about = signal<About | null>(null);

export function taskNamed(name: string): TaskInfo | null {
  return about.value?.tasks.find((task) => task.name === name.split(/[@~]/)[0]) ?? null;
}

/** The nearest size that the task takes; null stands for its own. */
export function fitSize(task: TaskInfo, size: Size | null): Size | null {
  if (!size || !task.resizable) return null;
  const most = about.value?.limits.side ?? 100;
  const fit = (asked: number, least: number): number => Math.max(least, Math.min(most, Math.round(asked)));
  const [height, width] = [fit(size[0], task.smallest[0]), fit(size[1], task.smallest[1])];
  return height === task.size[0] && width === task.size[1] ? null : [height, width];
}
