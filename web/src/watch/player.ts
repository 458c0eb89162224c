// The playback clock: current step and speed.

import { computed, effect, signal } from "@preact/signals";
import { calm } from "../ui/theme";
import { EpisodeRollout } from "./episode";
import type { Rollout } from "./rollout";

export const FASTEST = 11; // as a power of two: 2,048 steps per second

export const rollouts = signal<Rollout[]>([]);
/** the text of the program that made the rollouts */
export const rolledText = signal("");
/** index of the selected rollout */
export const selected = signal(0);
/** number of actions shown; a shorter rollout stays at its end */
export const position = signal(0);
export const playing = signal(false);
/** steps per second, as a power of two */
export const pace = signal(3);

export const longest = computed(() => Math.max(0, ...rollouts.value.map(({ data }) => data.shown)));
export const current = computed<Rollout | null>(
  () => rollouts.value[Math.min(selected.value, rollouts.value.length - 1)] ?? null,
);

/** `position` for texts, which change at most 20 times per second */
export const readPosition = signal(0);
const READING = 50; // milliseconds

export function show(found: Rollout[], text: string, autoplay: boolean): void {
  for (const old of rollouts.value) if (old instanceof EpisodeRollout) old.leave();
  rollouts.value = found;
  rolledText.value = text;
  const atStart = playing.value || position.value === 0 || autoplay;
  position.value = atStart ? 0 : Math.min(position.value, longest.value);
  readPosition.value = position.value;
  if (autoplay && !calm.matches) playing.value = true;
}

export function goTo(step: number): void {
  playing.value = false;
  position.value = Math.max(0, Math.min(longest.value, Math.round(step)));
}

export function togglePlay(): void {
  if (!playing.value && position.value >= longest.value) position.value = 0;
  playing.value = !playing.value && longest.value > 0;
}

export function keepTime(): void {
  effect(() => {
    if (!playing.value) {
      readPosition.value = position.value;
      return undefined;
    }
    let last = performance.now();
    let owed = 0;
    let readAt = 0;
    let frame = requestAnimationFrame(tick);

    function tick(now: number): void {
      // A hidden page gets no frames: when it is visible again, playback continues at the same step.
      owed += Math.min(Math.max(now - last, 0), 250) * 0.001 * 2 ** pace.peek();
      last = now;
      const whole = Math.floor(owed);
      owed -= whole;
      const next = Math.min(position.peek() + whole, longest.peek());
      position.value = next;
      if (now - readAt >= READING) {
        readAt = now;
        readPosition.value = next;
      }
      if (next >= longest.peek()) playing.value = false;
      else frame = requestAnimationFrame(tick);
    }

    return () => cancelAnimationFrame(frame);
  });
}
