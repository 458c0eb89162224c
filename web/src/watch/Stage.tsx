// The canvases: as large as they fit, each a button that selects its rollout.

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
const PADDING = 8; // both sides together; the frame of the selected one needs it

interface Slots {
  columns: number;
  width: number;
  height: number;
}

/** Try every number of columns, and take the one with the largest pictures. */
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

/** In a page that scrolls, the height follows from the width. */
function arrangeFlowing(count: number, grid: { height: number; width: number }, width: number): Slots {
  const columns = count === 1 ? 1 : width > 640 && count > 4 ? 3 : 2;
  const slot = (width - GAP * (columns - 1)) / columns;
  return {
    columns,
    width: slot,
    height: Math.min((slot * grid.height) / grid.width, 0.7 * window.innerHeight),
  };
}

/** Which rollouts to show, if there is only room for some: the first ones, and the selected one. */
function chosen(count: number, most: number): number[] {
  const places = Array.from({ length: Math.min(count, most) }, (_, place) => place);
  const last = places.length - 1;
  return places.map((place) =>
    place === last ? Math.max(last, Math.min(selected.value, count - 1)) : place,
  );
}

export function Stage({ most = 6 }: { most?: number }) {
  const [host, box] = useBox<HTMLDivElement>();
  const places = useComputed(() => chosen(rollouts.value.length, most));
  const slots = useComputed<Slots | null>(() => {
    const first = rollouts.value[0];
    if (first instanceof EpisodeRollout) void first.arrived.value; // now the shape is known
    const count = places.value.length;
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
          Nothing runs yet: first {issue.value.span ? "the program" : "the task"} needs to be right. The
          editor says what is wrong.
        </p>
      )}
      {layout &&
        places.value.map((place) => (
          <Slot
            key={place}
            rollout={rollouts.value[place]!}
            place={place}
            width={layout.width}
            height={layout.height}
          />
        ))}
    </div>
  );
}

interface SlotProps {
  rollout: Rollout;
  place: number;
  width: number;
  height: number;
}

function Slot({ rollout, place, width, height }: SlotProps) {
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
      data-testid={`rollout-${place}`}
      data-step={done}
      onClick={() => {
        selected.value = place;
      }}
    >
      <canvas ref={canvas} role="img" aria-label={`${name}, ${shape}`} hidden={missing !== null} />
      {missing !== null && rollout instanceof EpisodeRollout && (
        <span class="slot-state" data-testid={`state-${place}`} style={{ width: `${Math.min(width, 420)}px` }}>
          <b>No picture.</b> <span class="faint">{missing}</span>
          <span class="code">{rollout.data.states[done]}</span>
        </span>
      )}
      <span class="slot-caption">
        <span>{name}</span>
        <span class="faint">
          {over ? (data.outcome && data.shown === data.total ? OUTCOME_WORDS[data.outcome] : "shown to here") : ""}
        </span>
        <span class="slot-value">{value == null ? "" : short(value)}</span>
      </span>
    </button>
  );
}
