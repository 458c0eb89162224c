// Start a search and watch it: its curve, its population on the map, its best program.

import { useId } from "preact/hooks";
import type { SearchEnd } from "../contract";
import { load, mode, task, units } from "../document";
import { decimals } from "../score/numbers";
import { LatentMap } from "../space/LatentMap";
import { map, mapProblem } from "../space/map";
import { Button } from "../ui/Button";
import { Code } from "../ui/Code";
import { NumberField } from "../ui/NumberField";
import { TaskChoice } from "../watch/Watch";
import { Curve } from "./Curve";
import { diffLines } from "./diff";
import {
  also,
  budget,
  MOST,
  MOST_WORLDS,
  method,
  methods,
  search,
  searching,
  searchSeed,
  start,
  stop,
  want,
  worlds,
} from "./searching";

export function SearchMode() {
  const id = useId();
  const alsoId = useId();
  const info = task.value;
  const found = search.value;
  return (
    <section class="panel watch" aria-labelledby="search-title">
      <h2 id="search-title" class="unseen">
        Search
      </h2>
      <TaskChoice />
      <div class="world-choice">
        <span class="field">
          <label for={id}>Method</label>
          <select
            id={id}
            data-testid="method"
            value={method.value}
            onChange={(event) => {
              want({ method: event.currentTarget.value });
            }}
          >
            {methods.value.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </span>
        <NumberField
          label="Programs"
          testid="search-budget"
          value={budget.value}
          least={64}
          most={MOST}
          onChange={(value) => {
            want({ budget: value });
          }}
        />
        {worlds.value !== null && (
          <NumberField
            label="Episodes each"
            testid="search-worlds"
            value={worlds.value}
            least={1}
            most={MOST_WORLDS}
            onChange={(value) => {
              want({ worlds: value });
            }}
          />
        )}
        <NumberField
          label="Seed"
          testid="search-seed"
          value={searchSeed.value}
          least={0}
          most={2 ** 31 - 1}
          onChange={(value) => {
            searchSeed.value = value;
          }}
        />
        {(info?.size || (info?.variants.length ?? 0) > 0) && (
          <span class="field">
            <label for={alsoId}>Also at</label>
            <input
              id={alsoId}
              type="text"
              data-testid="search-also"
              class="sizes"
              placeholder={`e.g. ${info?.size ? "16x16, 40x40" : info?.variants.join(", ")}`}
              title={`Other ${info?.size ? "sizes of worlds" : "variants"} at which the program must work`}
              value={also.value}
              onInput={(event) => {
                also.value = event.currentTarget.value;
              }}
            />
          </span>
        )}
        {searching.value ? (
          <Button main testid="search-stop" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button main testid="search-start" onClick={() => void start()}>
            Search
          </Button>
        )}
      </div>
      <p role="status" class="search-state" data-testid="search-state" data-state={found?.state ?? "none"}>
        {stateLine()}
      </p>
      <Curve curve={found?.curve ?? []} />
      {info?.mapped && <PopulationMap />}
    </section>
  );
}

function PopulationMap() {
  return (
    <>
      {map.value ? (
        <LatentMap map={map.value} population={search.value?.population ?? []} testid="search-map" />
      ) : (
        <p class="map faint">{mapProblem.value ?? "Loading the map of programs…"}</p>
      )}
      <p class="legend faint">
        <span class="key key-population">programs of this round</span> on the map of the space's training
        programs
      </p>
    </>
  );
}

function stateLine(): string {
  const found = search.value;
  if (!found) return "Choose a task and a method. The search uses only the task's return, no examples.";
  const tried = (found.end ?? found.last)?.evaluations.toLocaleString("en") ?? "0";
  switch (found.state) {
    case "running":
      return found.last
        ? `${tried} programs tried, best ${decimals(found.last.best_so_far)}.`
        : "Starting…";
    case "judging":
      return `${tried} programs tried; scoring the best ones on unseen ${units.value}…`;
    case "stopped":
      return `Stopped after ${tried} programs.`;
    case "failed":
      return found.problem ?? "The search failed.";
    case "ended":
      return `${found.end?.solved ? "Solved" : "Done"} after ${tried} programs in ${found.end?.seconds.toFixed(1)} s: ${decimals(found.end?.return)} on unseen ${units.value}${returnsBySize(found.end)}.`;
  }
}

function returnsBySize(end: SearchEnd | null): string {
  const sizes = Object.entries(end?.elsewhere ?? {});
  return sizes.map(([size, earned]) => `, ${decimals(earned)} at ${size}`).join("");
}

export function SearchBest() {
  const found = search.value;
  const changing = found?.state === "running" && found.before !== "";
  const diff = found?.program ? diffLines(changing ? found.before : found.program, found.program) : null;
  return (
    <section class="panel grow" aria-labelledby="best-title">
      <header class="panel-head">
        <h2 id="best-title">Best program</h2>
        {found?.last && <p class="number">{decimals(found.end?.search_return ?? found.last.best_so_far)}</p>}
      </header>
      {found && diff ? (
        <>
          <Code text={diff.text} marks={diff.marks} testid="search-program" />
          <Button
            main
            testid="search-take"
            onClick={() => {
              load(found.program, { asOriginal: true });
              mode.value = "program";
            }}
          >
            Take into editor
          </Button>
          {changing && (
            <p class="faint">
              Compared with the previous best program: new lines are green, removed lines are struck through.
            </p>
          )}
        </>
      ) : (
        <p class="faint">The best program so far is shown here during a search.</p>
      )}
    </section>
  );
}
