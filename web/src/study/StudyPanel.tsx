// The panel of the study: start, budget, history, result.

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { load, program, task } from "../document";
import { decimals } from "../score/numbers";
import { Score } from "../score/Score";
import { issue } from "../score/scoring";
import { downloadJson } from "../share";
import { about } from "../task";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import {
  BUDGETS,
  begin,
  bestOf,
  counts,
  finish,
  leave,
  overBudget,
  type Study,
  study,
  titleOf,
  toFile,
  used,
} from "./study";

export function StudyPanel() {
  const current = study.value;
  if (!current) return <StudyStart />;
  return current.ended ? <StudyEnd of={current} /> : <StudyRunning of={current} />;
}

interface Start {
  key: string;
  title: string;
  task: string;
  program: string;
  note?: string;
}

function starts(): Start[] {
  const known = about.value;
  if (!known) return [];
  const paper = known.study.map((item) => ({
    key: `study:${item.task}`,
    title: `${titleOf(item.task)}, from the paper (${decimals(item.reported["0"])})`,
    task: item.task,
    program: item.program,
    note: item.note,
  }));
  const others = known.tasks
    .filter((info) => !paper.some((item) => item.program === info.program))
    .map((info) => ({ key: `task:${info.name}`, title: info.title, task: info.name, program: info.program }));
  const here = {
    key: "here",
    title: "The program in the editor",
    task: task.value?.name ?? "",
    program: program.value,
  };
  return issue.value ? [...paper, ...others] : [...paper, ...others, here];
}

function StudyStart() {
  const id = useId();
  const options = starts();
  // The paper's programs come first; they are for Karel's tasks.
  const own = options.findIndex((option) => option.task === task.value?.name);
  const chosen = useSignal(task.value?.drawn ? 0 : Math.max(own, 0));
  const budget = useSignal<number>(BUDGETS[0]);
  return (
    <section class="panel study-head" aria-labelledby="study-title">
      <header class="panel-head">
        <h2 id="study-title">Can you improve it?</h2>
      </header>
      <p>
        In the paper's study, people improved programs found by a search. They could edit only a few
        statements. This is the same experiment.
      </p>
      <p>
        <label for={id}>Program to start from</label>
        <select
          id={id}
          data-testid="study-program"
          value={options[chosen.value]?.key}
          onChange={(event) => {
            chosen.value = event.currentTarget.selectedIndex;
          }}
        >
          {options.map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </p>
      {options[chosen.value]?.note && <p class="faint">{options[chosen.value]?.note}</p>}
      <Choice
        label="Statements that you may edit"
        testid="budget"
        options={BUDGETS.map((value) => ({ value, title: String(value) }))}
        value={budget.value}
        onChange={(value) => {
          budget.value = value;
        }}
      />
      <p class="faint">
        Adding, removing or changing one action, or one WHILE, IF, IFELSE, ELSE or REPEAT with its condition,
        is one edit. Moving the end of a block is not counted.
      </p>
      <Button
        main
        testid="study-begin"
        onClick={() => {
          const start = options[chosen.value];
          if (start) begin(start.task, start.program, budget.value);
        }}
      >
        Begin
      </Button>
    </section>
  );
}

function StudyRunning({ of }: { of: Study }) {
  const best = bestOf(of);
  return (
    <>
      <section class="panel study-head" aria-labelledby="study-title">
        <header class="panel-head">
          <h2 id="study-title">Study: {titleOf(of.task)}</h2>
          <Button main testid="study-finish" onClick={finish}>
            Finish
          </Button>
        </header>
        <Budget of={of} />
      </section>
      <Score counted={{ over: overBudget.value, best }} />
      <History of={of} />
    </>
  );
}

function Budget({ of }: { of: Study }) {
  const spent = used.value;
  const over = overBudget.value;
  return (
    <div class="budget" data-testid="budget-state" data-used={spent} data-budget={of.budget} data-over={over}>
      <div class="pips" aria-hidden="true">
        {Array.from({ length: Math.max(of.budget, Math.min(spent, 12)) }, (_, index) => (
          <span key={index} class={index >= of.budget ? "pip over" : index < spent ? "pip used" : "pip"} />
        ))}
      </div>
      <p role="status">
        {over ? (
          <>
            <b class="truth-false">
              {spent} statements edited, {spent - of.budget} too many.
            </b>{" "}
            This program's return does not count. Undo an edit, or restore a program from the history.
          </>
        ) : (
          <>
            <b>
              {spent} of {of.budget}
            </b>{" "}
            statements edited, {of.budget - spent} left.
          </>
        )}
      </p>
    </div>
  );
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

function History({ of }: { of: Study }) {
  const best = bestOf(of);
  return (
    <section class="panel history-panel" aria-labelledby="history-title">
      <header class="panel-head">
        <h2 id="history-title">History</h2>
        <p class="faint">click to restore</p>
      </header>
      {of.edits.length === 0 ? (
        <p class="faint">Every program that runs is listed here.</p>
      ) : (
        <ol class="history" data-testid="history">
          {of.edits
            .map((edit, index) => (
              <li key={index}>
                <button
                  type="button"
                  class={`history-item${program.value === edit.program ? " here" : ""}`}
                  onClick={() => load(edit.program, { asOriginal: false })}
                >
                  <span class="faint">{clock(edit.seconds)}</span>
                  <span>
                    {edit.distance} {edit.distance === 1 ? "edit" : "edits"}
                  </span>
                  <span class={counts(edit, of) ? "number" : "number uncounted"}>{decimals(edit.mean)}</span>
                  <span class="faint">{edit === best ? "best" : counts(edit, of) ? "" : "over"}</span>
                </button>
              </li>
            ))
            .reverse()}
        </ol>
      )}
    </section>
  );
}

function StudyEnd({ of }: { of: Study }) {
  const best = bestOf(of);
  const first = of.edits[0];
  const reported = of.reported;
  return (
    <>
      <section class="panel study-head" aria-labelledby="study-title" data-testid="study-summary">
        <header class="panel-head">
          <h2 id="study-title">{titleOf(of.task)}: result</h2>
        </header>
        <p>
          {best && first && best.mean > first.mean
            ? `From ${decimals(first.mean)} to ${decimals(best.mean)} with ${best.distance} of ${of.budget} edits, in ${clock(((of.ended ?? 0) - of.began) / 1000)} minutes.`
            : "No program within the budget was better than the start."}
        </p>
        <table>
          <thead>
            <tr>
              <th scope="col">Edits</th>
              <th scope="col">You</th>
              {reported && <th scope="col">People in the paper</th>}
            </tr>
          </thead>
          <tbody>
            {[0, ...BUDGETS].map((edits) => (
              <tr key={edits} class={edits === of.budget ? "here" : undefined}>
                <th scope="row">{edits}</th>
                <td>{edits > of.budget ? "–" : decimals(bestOf({ ...of, budget: edits })?.mean)}</td>
                {reported && <td>{decimals(reported[String(edits)])}</td>}
              </tr>
            ))}
          </tbody>
        </table>
        <div class="row">
          <Button
            main
            testid="study-export"
            onClick={() => downloadJson(`study-${of.task}-${of.budget}.json`, toFile(of))}
          >
            Export result
          </Button>
          <Button testid="study-again" onClick={leave}>
            New study
          </Button>
          {best && (
            <Button testid="study-best" onClick={() => load(best.program, { asOriginal: false })}>
              Show best
            </Button>
          )}
        </div>
      </section>
      <History of={of} />
    </>
  );
}
