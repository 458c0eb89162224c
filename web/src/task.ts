// Tasks and languages from the server, and the sizes of a task.

import { signal } from "@preact/signals";
import type { About, LanguageInfo, Size, TaskInfo } from "./contract";

export const about = signal<About | null>(null);

export function taskNamed(name: string): TaskInfo | null {
  return about.value?.tasks.find((task) => task.name === name.split(/[@~]/)[0]) ?? null;
}

export function languageOf(task: TaskInfo | null): LanguageInfo | null {
  return (task && about.value?.languages[task.language]) ?? null;
}

/** The nearest size that the task supports, or its variant; null is the default size. */
export function fitSize(task: TaskInfo, size: unknown): Size | null {
  if (typeof size === "string") return task.variants.includes(size) ? size : null;
  if (!Array.isArray(size) || size.length !== 2 || !task.size || !task.smallest || !task.resizable)
    return null;
  const most = about.value?.limits.side ?? 100;
  const fit = (asked: number, least: number): number => Math.max(least, Math.min(most, Math.round(asked)));
  const [height, width] = [fit(size[0], task.smallest[0]), fit(size[1], task.smallest[1])];
  return height === task.size[0] && width === task.size[1] ? null : [height, width];
}
