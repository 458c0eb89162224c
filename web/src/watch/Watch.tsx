// Watch the program: choice of task and worlds, the rollouts, and the playback controls.

import { useId } from "preact/hooks";
import {
  capital,
  chooseTask,
  newWorlds,
  program,
  seed,
  sidesShown,
  size,
  task,
  taskName,
  unit,
  units,
} from "../document";
import { inStudy } from "../study/study";
import { about, fitSize, taskNamed } from "../task";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { NumberField } from "../ui/NumberField";
import { SizeFields } from "../ui/SizeFields";
import { current, selected } from "./player";
import { Stage } from "./Stage";
import { Transport } from "./Transport";
import { WorldRollout } from "./world";
import { COUNTS, indices, setCount, watchWorld } from "./worlds";

export function Watch() {
  return (
    <section class="panel watch" aria-labelledby="watch-title">
      <h2 id="watch-title" class="unseen">
        Watch
      </h2>
      <TaskChoice />
      <WorldChoice />
      <Stage />
      <Transport />
    </section>
  );
}

/** Small rollouts of the editor's program, in Search and Space. */
export function SmallWatch() {
  return (
    <section class="panel watch small" aria-labelledby="small-watch-title">
      <header class="panel-head">
        <h2 id="small-watch-title">What it does</h2>
        <p class="faint">in {task.value?.title}</p>
      </header>
      <Stage most={2} />
      <Transport />
    </section>
  );
}

export function TaskChoice() {
  const id = useId();
  const tasks = about.value?.tasks ?? [];
  const option = (info: { name: string; title: string }) => (
    <option key={info.name} value={info.name}>
      {info.title}
    </option>
  );
  function choose(name: string): void {
    // An unedited program is replaced by the new task's program; an edited one stays.
    const untouched = program.value === taskNamed(taskName.value)?.program;
    chooseTask(name, { withProgram: untouched });
  }
  return (
    <div class="task-choice">
      <label for={id} class="unseen">
        Task
      </label>
      <select
        id={id}
        data-testid="task"
        value={taskName.value}
        disabled={inStudy.value}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {!tasks.some((info) => info.name === taskName.value) && (
          <option value={taskName.value}>{taskName.value}</option>
        )}
        {[...new Set(tasks.map((info) => info.group))].map((group) => (
          <optgroup key={group} label={group}>
            {tasks.filter((info) => info.group === group).map(option)}
          </optgroup>
        ))}
      </select>
      <p class="task-summary" data-testid="task-summary">
        {sentence(task.value?.summary ?? "")}
        {current.value instanceof WorldRollout && current.value.data.exits.length
          ? " Tinted cells end a run."
          : ""}
      </p>
      {task.value && program.value !== task.value.program && !inStudy.value && (
        <Button
          quiet
          testid="task-program"
          title="Load the task's first program"
          onClick={() => chooseTask(taskName.value, { withProgram: true })}
        >
          Load its program
        </Button>
      )}
    </div>
  );
}

const sentence = (text: string): string => text && `${text[0]!.toUpperCase()}${text.slice(1)}.`;

function WorldChoice() {
  const info = task.value;
  const locked = inStudy.value; // all programs of a study have the same worlds
  return (
    <div class="world-choice">
      <Choice
        label={capital(units.value)}
        testid="count"
        options={COUNTS.map((count) => ({ value: count, title: String(count) }))}
        value={indices.value.length}
        onChange={setCount}
      />
      {info?.size && (
        <SizeFields
          size={() => sidesShown.value}
          testids={["height", "width"]}
          least={info.smallest ?? [3, 3]}
          most={about.value?.limits.side ?? 100}
          disabled={locked || !info.resizable}
          onChange={(asked) => {
            size.value = fitSize(info, asked);
          }}
        />
      )}
      {info && info.variants.length > 0 && <VariantChoice variants={info.variants} disabled={locked} />}
      <NumberField
        label={capital(unit.value)}
        testid="world-number"
        value={indices.value[selected.value] ?? 0}
        least={0}
        most={999_999}
        digits={4}
        onChange={watchWorld}
      />
      <NumberField
        label="Seed"
        testid="seed"
        value={seed.value}
        least={0}
        most={2 ** 31 - 1}
        digits={5}
        disabled={locked}
        onChange={(value) => {
          seed.value = value;
        }}
      />
      <Button testid="new-worlds" disabled={locked} onClick={newWorlds} title={`Draw other ${units.value}`}>
        New {units.value}
      </Button>
    </div>
  );
}

function VariantChoice({ variants, disabled }: { variants: string[]; disabled: boolean }) {
  const id = useId();
  return (
    <span class="field">
      <label for={id}>Variant</label>
      <select
        id={id}
        data-testid="variant"
        value={typeof size.value === "string" ? size.value : ""}
        disabled={disabled}
        onChange={(event) => {
          size.value = event.currentTarget.value || null;
        }}
      >
        <option value="">the task's own</option>
        {variants.map((variant) => (
          <option key={variant} value={variant}>
            {variant}
          </option>
        ))}
      </select>
    </span>
  );
}
