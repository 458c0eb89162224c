// The program's return: New, Orig and Best in the same episodes.

import { useLayoutEffect, useRef } from "preact/hooks";
import { load, task, unit, units } from "../document";
import { inStudy } from "../study/study";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { goTo } from "../watch/player";
import { watchWorld } from "../watch/worlds";
import { decimals } from "./numbers";
import {
  answeredEdit,
  best,
  EPISODES,
  episodes,
  episodesWanted,
  fresh,
  originalScore,
  score,
} from "./scoring";
import { Strip } from "./Strip";

interface Props {
  /** in a study, only programs within the budget count */
  counted?: { over: boolean; best: { program: string; mean: number } | null };
}

export function Score({ counted }: Props) {
  const scored = score.value;
  const leading = counted ? counted.best : best.value;
  const element = useRef<HTMLElement>(null);

  // Time from the edit to this render: the user's waiting time, which tests read.
  const measured = useRef(0);
  useLayoutEffect(() => {
    const edited = answeredEdit.value;
    if (!scored || edited === measured.current) return; // the worlds changed, not the text
    measured.current = edited;
    element.current!.dataset["latencyMs"] = (performance.now() - edited).toFixed(1);
  }, [scored]);

  const count = scored?.returns.length ?? episodes.value;
  const perfect = task.value?.best ?? null;
  const solved = scored?.returns.filter((value) => perfect !== null && value >= perfect - 1e-9).length ?? 0;
  return (
    <section
      ref={element}
      class={fresh.value ? "panel score" : "panel score stale"}
      aria-labelledby="score-title"
      data-testid="score"
    >
      <header class="panel-head">
        <h2 id="score-title">Return</h2>
        <p class="faint" data-testid="solved">
          mean of {count.toLocaleString("en")} {units.value}
          {scored?.asked ? ` of ${scored.asked.toLocaleString("en")}` : ""}
          {perfect === null ? "" : `, ${solved.toLocaleString("en")} solved`}
        </p>
      </header>
      <dl class="returns">
        <Figure
          name={counted?.over ? "New (over)" : "New"}
          testid="score-new"
          scored={scored}
          large
          struck={counted?.over}
        />
        <Figure name="Orig" testid="score-orig" scored={originalScore.value} />
        <Figure name="Best" testid="score-best" scored={leading} />
      </dl>
      <Strip />
      {scored && scored.privileged.length > 0 && (
        <p class="privileged-note" data-testid="privileged">
          <b>Privileged:</b> it uses <span class="code">{scored.privileged.join(", ")}</span>, so it can't run
          where there are only observations.
        </p>
      )}
      <div class="row">
        <Button
          testid="worst"
          disabled={!scored}
          title={`Watch the ${unit.value} with the lowest return`}
          onClick={() => {
            if (!scored) return;
            watchWorld(scored.worst);
            goTo(0);
          }}
        >
          Worst {unit.value}
        </Button>
        {leading !== null && leading.program !== scored?.program && (
          <Button
            testid="restore-best"
            title="Put the best program back into the editor"
            onClick={() => load(leading.program, { asOriginal: false })}
          >
            Restore best
          </Button>
        )}
        {!inStudy.value && (
          <Choice
            hiddenLabel
            label={`Number of ${units.value}`}
            testid="episodes"
            options={EPISODES.map((value) => ({ value, title: value.toLocaleString("en") }))}
            value={episodes.value}
            onChange={(value) => {
              episodesWanted.value = value;
            }}
          />
        )}
      </div>
    </section>
  );
}

interface FigureProps {
  name: string;
  testid: string;
  scored: { program: string; mean: number } | null;
  large?: boolean;
  struck?: boolean | undefined;
}

function Figure({ name, testid, scored, large, struck }: FigureProps) {
  return (
    <div class={large ? "figure large" : "figure"}>
      <dt>{name}</dt>
      <dd data-testid={testid} data-value={scored?.mean} class={struck ? "struck" : undefined}>
        {decimals(scored?.mean)}
      </dd>
    </div>
  );
}
