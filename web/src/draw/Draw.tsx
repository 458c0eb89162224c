// Draw a world, and watch the program run in it.

import { useId } from "preact/hooks";
import { task } from "../document";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { SizeFields } from "../ui/SizeFields";
import { current } from "../watch/player";
import { Stage } from "../watch/Stage";
import { Transport } from "../watch/Transport";
import { WorldRollout } from "../watch/world";
import { TaskChoice } from "../watch/Watch";
import { Board } from "./Board";
import {
  drawnWorld,
  emptyWorld,
  isWorld,
  LARGEST,
  resize,
  rules,
  SMALLEST,
  sizeOf,
  tool,
  TOOLS,
} from "./drawing";

export function Draw() {
  const id = useId();
  return (
    <section class="panel watch" aria-labelledby="draw-title">
      <h2 id="draw-title" class="unseen">
        Draw a world
      </h2>
      <TaskChoice />
      <div class="world-choice">
        <Choice
          label="Tool"
          testid="tool"
          options={TOOLS}
          value={tool.value}
          onChange={(value) => {
            tool.value = value;
          }}
        />
        <SizeFields
          size={() => sizeOf(drawnWorld.value)}
          testids={["draw-height", "draw-width"]}
          least={[SMALLEST, SMALLEST]}
          most={LARGEST}
          onChange={(size) => {
            drawnWorld.value = resize(drawnWorld.value, size);
          }}
        />
        <span class="check">
          <input
            id={id}
            type="checkbox"
            data-testid="rules"
            checked={rules.value}
            onChange={(event) => {
              rules.value = event.currentTarget.checked;
            }}
          />
          <label for={id}>Rules of {task.value?.title}</label>
        </span>
        <Button testid="draw-clear" onClick={clear}>
          Empty room
        </Button>
      </div>
      <div class="draw-pair">
        <figure>
          <figcaption>
            Draw here. <span class="faint">{hint(tool.value)}</span>
          </figcaption>
          <Board />
        </figure>
        <figure>
          <figcaption>
            It runs here. <span class="faint">{result()}</span>
          </figcaption>
          <Stage />
        </figure>
      </div>
      <Transport />
      <p class="faint">
        Without rules, the program just runs. With the rules of {task.value?.title}, the run ends when the task
        ends, and it has a return. Share makes a link to this world. With the keyboard: Tab to the board, arrow
        keys move, Enter uses the tool.
      </p>
    </section>
  );
}

function clear(): void {
  const [height, width] = sizeOf(drawnWorld.value);
  drawnWorld.value = emptyWorld([height, width]);
}

/** Copy the watched world to the drawing board, if it is small enough. */
export function takeWatchedWorld(): boolean {
  const watched = current.value instanceof WorldRollout ? current.value.data.world : null;
  if (!isWorld(watched)) return false;
  drawnWorld.value = watched;
  rules.value = true;
  return true;
}

function hint(using: string): string {
  if (using === "karel") return "Click to place Karel; click again to turn.";
  return using === "more" || using === "less" ? "Click or drag: one marker per cell." : "Click or drag.";
}

function result(): string {
  const data = current.value?.data;
  if (!data) return "";
  const steps = `${data.total.toLocaleString("en")} ${data.total === 1 ? "step" : "steps"}`;
  return data.return === null ? steps : `${steps}, return ${data.return.toFixed(2).replace("-", "−")}`;
}
