// The canvases of the rollouts, as large as possible; a click selects a rollout.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { capital, unit } from "../document";
import { fresh, issue } from "../score/scoring";
import { useBox } from "../ui/box";
import { narrow } from "../ui/narrow";
import { colours } from "./colours";
import { EpisodeRollout } from "./episode";
import { type Painter, painterOf } from "./painter";
import { short } from "../score/numbers";
import { current, position, readPosition, rollouts, selected } from "./player";
import { OUTCOME_WORDS } from "./reasons";
import type { Rollout } from "./rollout";
import { problem } from "./worlds";

const GAP = 12;
const CAPTION = 28;
const PADDING = 8; // both sides together, for the frame of the selected one

interface Slots {
  columns: number;
  width: number;
  height: number;
}

/** Find the number of columns with the largest pictures. */
function arrange(
  count: number,
  grid: { height: number; width: number },
  width: number,
  height: number,
): Slots {
  let found: Slots = { columns: 1, width, height };
  let largest = 0;
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const slot = {
      columns,
      width: (width - GAP * (columns - 1)) / columns,
      height: (height - GAP * (rows - 1)) / rows - CAPTION,
    };
    const scale = Math.min(slot.width / grid.width, slot.height / grid.height);
    if (scale > largest) [found, largest] = [slot, scale];
  }
  return found;
}

/** On a page that scrolls, the height follows from the width. */
function arrangeFlowing(count: number, grid: { height: number; width: number }, width: number): Slots {
  const columns = count === 1 ? 1 : width > 640 && count > 4 ? 3 : 2;
  const slot = (width - GAP * (columns - 1)) / columns;
  return {
    columns,
    width: slot,
    height: Math.min((slot * grid.height) / grid.width, 0.7 * window.innerHeight),
  };
}

/** The rollouts to show if not all fit: the first ones, and the selected one. */
function chosen(count: number, most: number): number[] {
  const slotIndices = Array.from({ length: Math.min(count, most) }, (_, slot) => slot);
  const last = slotIndices.length - 1;
  return slotIndices.map((slot) =>
    slot === last ? Math.max(last, Math.min(selected.value, count - 1)) : slot,
  );
}

export function Stage({ most = 6 }: { most?: number }) {
  const [host, box] = useBox<HTMLDivElement>();
  const slotIndices = useComputed(() => chosen(rollouts.value.length, most));
  const slots = useComputed<Slots | null>(() => {
    const first = rollouts.value[0];
    if (first instanceof EpisodeRollout) void first.arrived.value; // the first picture has set the shape
    const count = slotIndices.value.length;
    const [width, height] = [box.value.width - PADDING, box.value.height - PADDING];
    if (!first || width < 10) return null;
    return narrow.value
      ? arrangeFlowing(count, first, width)
      : arrange(count, first, width, Math.max(height, 120));
  });

  const layout = slots.value;
  return (
    <div
      ref={host}
      class={fresh.value ? "stage" : "stage stale"}
      data-testid="stage"
      style={layout ? { gridTemplateColumns: `repeat(${layout.columns}, auto)` } : undefined}
    >
      {problem.value && <p class="stage-note">{problem.value}</p>}
      {rollouts.value.length === 0 && issue.value && (
        <p class="stage-note">
          Nothing runs yet: {issue.value.span ? "the program" : "the task"} has an error. The editor shows the
          message.
        </p>
      )}
      {layout &&
        slotIndices.value.map((slot) => (
          <Slot
            key={slot}
            rollout={rollouts.value[slot]!}
            slot={slot}
            width={layout.width}
            height={layout.height}
          />
        ))}
    </div>
  );
}

interface SlotProps {
  rollout: Rollout;
  slot: number;
  width: number;
  height: number;
}

function Slot({ rollout, slot, width, height }: SlotProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useSignal<Painter | null>(null);

  useLayoutEffect(() => {
    painter.value = painterOf(canvas.current!, rollout, colours.value, { width, height });
  }, [rollout, width, height, colours.value]);

  useSignalEffect(() => {
    if (rollout instanceof EpisodeRollout) void rollout.arrived.value;
    painter.value?.paint(position.value);
  });

  const { data } = rollout;
  const done = Math.min(readPosition.value, data.shown);
  const over = done === data.shown;
  const value = done === 0 ? null : data.steps.value[done - 1];
  const name = rollout.index === undefined ? "Your world" : `${capital(unit.value)} ${rollout.index}`;
  const shape =
    rollout instanceof EpisodeRollout ? "the environment's picture" : `${rollout.height} × ${rollout.width} cells`;
  const missing = rollout instanceof EpisodeRollout ? rollout.problem.value : null;
  return (
    <button
      type="button"
      class={rollout instanceof EpisodeRollout ? "slot pictured" : "slot"}
      aria-pressed={current.value === rollout}
      data-testid={`rollout-${slot}`}
      data-step={done}
      onClick={() => {
        selected.value = slot;
      }}
    >
      <canvas ref={canvas} role="img" aria-label={`${name}, ${shape}`} hidden={missing !== null} />
      {missing !== null && rollout instanceof EpisodeRollout && (
        <span class="slot-state" data-testid={`state-${slot}`} style={{ width: `${Math.min(width, 420)}px` }}>
          <b>No picture.</b> <span class="faint">{missing}</span>
          <span class="code">{rollout.data.states[done]}</span>
        </span>
      )}
      <span class="slot-caption">
        <span>{name}</span>
        <span class="faint">
          {over ? (data.outcome && data.shown === data.total ? OUTCOME_WORDS[data.outcome] : "recorded up to here") : ""}
        </span>
        <span class="slot-value">{value == null ? "" : short(value)}</span>
      </span>
    </button>
  );
}
