// The returns of all episodes as bars, from the worst to the best. A click on a bar watches its episode.

import { useComputed, useSignal } from "@preact/signals";
import { capital, task, unit } from "../document";
import { OUTCOME_WORDS } from "../watch/reasons";
import { indices, watchWorld } from "../watch/worlds";
import { short } from "./numbers";
import { score } from "./scoring";

const [WIDTH, HEIGHT] = [300, 84];

export function Strip() {
  const order = useComputed(() => {
    const returns = score.value?.returns ?? [];
    return returns.map((_, world) => world).sort((a, b) => returns[a]! - returns[b]! || a - b);
  });
  const at = useSignal<number | null>(null);
  const scored = score.value;
  if (!scored) return <div class="strip-empty" />;

  const { returns } = scored;
  const [low, high] = rangeOf(returns, task.value?.best ?? null);
  const y = (value: number): number => HEIGHT - ((value - low) / (high - low)) * HEIGHT;
  const bar = WIDTH / returns.length;
  const current = Math.min(at.value ?? 0, order.value.length - 1);
  const world = order.value[current] ?? 0;
  const watched = new Set(indices.value);

  function rankAt(event: MouseEvent & { currentTarget: Element }): number {
    const box = event.currentTarget.getBoundingClientRect();
    const fraction = (event.clientX - box.left) / box.width;
    return Math.max(0, Math.min(returns.length - 1, Math.floor(fraction * returns.length)));
  }

  function press(event: KeyboardEvent): void {
    const moves: Record<string, number> = {
      ArrowLeft: current - 1,
      ArrowRight: current + 1,
      Home: 0,
      End: returns.length - 1,
    };
    if (event.key in moves) at.value = Math.max(0, Math.min(returns.length - 1, moves[event.key]!));
    else if (event.key === "Enter" || event.key === " ") watchWorld(world);
    else return;
    event.preventDefault();
  }

  return (
    <div class="strip">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="slider"
        tabindex={0}
        aria-label={`Returns by ${unit.value}, from the worst to the best. Enter watches the ${unit.value}.`}
        aria-valuemin={0}
        aria-valuemax={returns.length - 1}
        aria-valuenow={current}
        aria-valuetext={describe(world)}
        data-testid="strip"
        onMouseMove={(event) => {
          at.value = rankAt(event);
        }}
        onMouseLeave={() => {
          at.value = null;
        }}
        onClick={(event) => watchWorld(order.value[rankAt(event)] ?? 0)}
        onKeyDown={press}
      >
        <line x1={0} x2={WIDTH} y1={y(high)} y2={y(high)} class="level" />
        <line x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} class="level" />
        {order.value.map((index, rank) => {
          const value = returns[index]!;
          const [top, bottom] = [Math.min(y(value), y(0)), Math.max(y(value), y(0))];
          return (
            <rect
              key={rank}
              x={rank * bar + bar * 0.08}
              width={bar * 0.84}
              y={top - 1.5}
              height={bottom - top + 1.5}
              class={`${watched.has(index) ? "bar watched" : "bar"}${at.value === rank ? " pointed" : ""}`}
            />
          );
        })}
        <line x1={0} x2={WIDTH} y1={y(scored.mean)} y2={y(scored.mean)} class="mean" />
      </svg>
      <p class="strip-says faint" data-testid="strip-says">
        {at.value === null
          ? `Each bar is ${unit.value === "world" ? "a world" : "an episode"}, from ${bound(low)} to ${bound(high)}, worst first. Click one to watch it.`
          : describe(world)}
      </p>
    </div>
  );

  function describe(index: number): string {
    const value = short(returns[index]!);
    const steps = scored!.steps[index]!.toLocaleString("en");
    return `${capital(unit.value)} ${index}: ${value}, ${OUTCOME_WORDS[scored!.outcomes[index]!]} after ${steps} steps`;
  }
}

/** From 0, or the worst if that is less, to the best possible return if it is known. */
function rangeOf(returns: number[], best: number | null): [number, number] {
  const [low, high] = [Math.min(0, ...returns), Math.max(best ?? 0, 0, ...returns)];
  return [low, high > low ? high : low + 1];
}

const bound = (value: number): string => (Number.isInteger(value) ? String(value).replace("-", "−") : short(value));
