// The space of programs: a map, and walks between two programs.

import { signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { language, load, program } from "../document";
import { kindOf } from "../editor/tokens";
import { fresh } from "../score/scoring";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { Code } from "../ui/Code";
import { LatentMap } from "./LatentMap";
import { herePoint, map, mapProblem } from "./map";
import { ends, walk, walkAt, walkProblem } from "./walking";

type Use = "load" | "a" | "b";
const pointed = signal<number | null>(null);
const clicked = signal<Use>("load");

/** Break a one-line program into lines, for reading. */
function indented(line: string): string {
  let depth = 0;
  const lines: string[] = [];
  let current: string[] = [];
  const flush = (): void => {
    if (current.length) lines.push("  ".repeat(depth) + current.join(" "));
    current = [];
  };
  for (const word of line.split(/\s+/)) {
    if (/^[mwier]\($/.test(word)) {
      current.push(word);
      flush();
      depth += 1;
    } else if (/^[mwier]\)$/.test(word)) {
      flush();
      depth -= 1;
      lines.push("  ".repeat(depth) + word);
    } else if (word === "ELSE" && lines.length) {
      current = [lines.pop()!.trim(), word];
    } else if (kindOf(word) === "action") {
      flush();
      lines.push("  ".repeat(depth) + word);
    } else current.push(word);
  }
  flush();
  return lines.join("\n");
}

function use(line: string): void {
  const text = indented(line);
  if (clicked.value === "load") load(text, { asOriginal: true });
  else ends.value = { ...ends.value, [clicked.value]: text };
}

export function Space() {
  const found = map.value;
  const walked = walk.value;
  const named = walked
    ? [
        { name: "A", point: walked.points[0]! },
        { name: "B", point: walked.points.at(-1)! },
      ]
    : [];
  return (
    <section class="panel watch" aria-labelledby="space-title">
      <header class="panel-head">
        <h2 id="space-title">The space of programs</h2>
        <Choice
          label="A click"
          testid="click-use"
          options={[
            { value: "load", title: "loads it" },
            { value: "a", title: "sets A" },
            { value: "b", title: "sets B" },
          ]}
          value={clicked.value}
          onChange={(value) => {
            clicked.value = value;
          }}
        />
      </header>
      {found ? (
        <LatentMap
          map={found}
          here={herePoint.value}
          walk={walked?.points ?? []}
          walkAt={walkAt.value}
          named={named}
          pointed={pointed.value}
          onPoint={(index) => {
            pointed.value = index;
          }}
          onPick={(index) => use(found.points[index]![2])}
          testid="space-map"
        />
      ) : (
        <p class="map faint">{mapProblem.value ?? "Loading the map of programs…"}</p>
      )}
      <p class="legend faint">
        <span class="key key-while">with WHILE</span>
        <span class="key key-repeat">with REPEAT</span>
        <span class="key key-other">others</span>
        <span class="key key-here">in the editor</span>
        {found && (
          <span>
            The two directions hold {Math.round(100 * (found.explained[0] + found.explained[1]))} % of the
            variance.
          </span>
        )}
      </p>
      <WalkBar />
    </section>
  );
}

function WalkBar() {
  const id = useId();
  const walked = walk.value;
  const { a, b } = ends.value;
  const end = (name: "a" | "b", text: string | null) => (
    <Button
      testid={`set-${name}`}
      disabled={!fresh.value}
      title={`Use the editor's program as ${name.toUpperCase()}`}
      onClick={() => {
        ends.value = { ...ends.value, [name]: program.value };
      }}
    >
      {name.toUpperCase()}: {text === null ? "use the editor's" : brief(text)}
    </Button>
  );
  return (
    <div class="walk">
      <h3>Walk from A to B</h3>
      <div class="row spread">
        {end("a", a)}
        {end("b", b)}
      </div>
      <label for={id} class="unseen">
        Position on the walk
      </label>
      <input
        id={id}
        type="range"
        data-testid="walk"
        min={0}
        max={(walked?.programs.length ?? 21) - 1}
        value={walkAt.value}
        disabled={!walked}
        aria-valuetext={
          walked ? `${Math.round(100 * (walked.shares[walkAt.value] ?? 0))} % of the way` : "no walk yet"
        }
        onInput={(event) => {
          walkAt.value = event.currentTarget.valueAsNumber;
          pointed.value = null;
        }}
      />
      {walkProblem.value && <p role="status">{walkProblem.value}</p>}
    </div>
  );
}

/** The beginning of a program, short enough for a button. */
function brief(text: string): string {
  const body = text
    .replace(/\s+/g, " ")
    .replace(/^DEF run m\( | m\)$/g, "")
    .replace(/ ?\bc[()]/g, "");
  return body.length > 30 ? `${body.slice(0, 29)}…` : body;
}

/** The program under the pointer or at the current point of the walk; below it, all programs as a list. */
export function SpaceReader() {
  const walked = walk.value;
  const point = pointed.value === null ? null : map.value?.points[pointed.value];
  const text = point ? indented(point[2]) : (walked?.programs[walkAt.value] ?? null);
  const share = walked?.shares[walkAt.value] ?? 0;
  return (
    <>
      <section class="panel reader" aria-labelledby="reader-title">
        <header class="panel-head">
          <h2 id="reader-title">
            {point || !walked ? "Program on the map" : `${Math.round(100 * share)} % from A to B`}
          </h2>
        </header>
        {text ? (
          <Code text={text} testid="space-program" />
        ) : (
          <p class="faint">
            Each dot is a training program of the space. Similar programs are close together. Point at a dot to
            read its program.
          </p>
        )}
        <Button
          main
          testid="space-take"
          disabled={!text}
          onClick={() => {
            if (text) load(text, { asOriginal: true });
          }}
        >
          Take into editor
        </Button>
      </section>
      <ProgramList />
    </>
  );
}

const LISTED = 60;

function ProgramList() {
  const id = useId();
  const wanted = useSignal("");
  const points = map.value?.points ?? [];
  const needles = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching: number[] = [];
  points.forEach(([, , line], index) => {
    if (needles.every((needle) => line.toLowerCase().includes(needle))) matching.push(index);
  });
  return (
    <section class="panel grow" aria-labelledby="list-title">
      <header class="panel-head">
        <h2 id="list-title">All programs</h2>
        <p class="faint" role="status">
          {matching.length.toLocaleString("en")} found
        </p>
      </header>
      <label for={id} class="unseen">
        Words in the program
      </label>
      <input
        id={id}
        type="search"
        data-testid="space-filter"
        placeholder={`while ${language.value?.actions.at(-1) ?? ""} …`}
        value={wanted.value}
        onInput={(event) => {
          wanted.value = event.currentTarget.value;
        }}
      />
      <ul class="program-list" data-testid="space-list">
        {matching.slice(0, LISTED).map((index) => (
          <li key={index}>
            <button
              type="button"
              class="code"
              onFocus={() => {
                pointed.value = index;
              }}
              onMouseEnter={() => {
                pointed.value = index;
              }}
              onClick={() => use(points[index]![2])}
            >
              {points[index]![2].replace(/^DEF run m\( | m\)$/g, "")}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
