// The current step: tested conditions, their values, the action and its effect.

import { task, unit } from "../document";
import { short as number } from "../score/numbers";
import { current, readPosition } from "./player";
import { type Reasons, reasonsAt } from "./reasons";

const gain = (value: number): string =>
  Number.isInteger(value) && value > 1e-9 && task.value?.best !== 1
    ? String(value)
    : value.toFixed(value < 0.01 ? 4 : 3);

export function Why() {
  const rollout = current.value;
  const reasons = rollout && reasonsAt(rollout, readPosition.value);
  return (
    <section class="panel why" aria-labelledby="why-title" data-testid="why">
      <header class="panel-head">
        <h2 id="why-title">Why?</h2>
        {reasons && (
          <p class="faint" data-testid="why-step">
            Step {reasons.step.toLocaleString("en")} of {reasons.total.toLocaleString("en")}
          </p>
        )}
      </header>
      {reasons ? <Explanation reasons={reasons} /> : <p class="faint">Nothing runs yet.</p>}
    </section>
  );
}

function Explanation({ reasons }: { reasons: Reasons }) {
  return (
    <div class="why-body">
      <ul class="chips" aria-label="Perceptions">
        {reasons.perceived.map(({ name, holds, privileged }) => (
          <li
            key={name}
            class={holds ? "chip chip-true" : "chip chip-false"}
            data-testid={`perception-${name}`}
            title={privileged ? "Privileged: it reads the environment, not the observation" : undefined}
          >
            <span>
              {name}
              {privileged && <i class="privileged"> privileged</i>}
            </span>{" "}
            <b>{holds ? "true" : "false"}</b>
          </li>
        ))}
      </ul>
      <dl class="why-list">
        {reasons.around.length > 0 && (
          <>
            <dt>Inside</dt>
            <dd class="code">{reasons.around.join(" › ")}</dd>
          </>
        )}
        {reasons.tests.length > 0 && (
          <>
            <dt>Tested</dt>
            <dd>
              <Tests tests={reasons.tests} />
            </dd>
          </>
        )}
        <dt>Action</dt>
        <dd>
          {reasons.action ? (
            <>
              <b class="code did" data-testid="why-action">
                {reasons.action}
              </b>{" "}
              {reasons.effect}
            </>
          ) : (
            `None yet: this is the ${unit.value} before the first step.`
          )}
        </dd>
        {reasons.value !== null && (
          <>
            <dt>Return</dt>
            <dd data-testid="why-return">
              {number(reasons.value)} so far
              {reasons.gained !== null && Math.abs(reasons.gained) > 1e-9 && (
                <span class={reasons.gained > 0 ? "gain" : "loss"}>
                  {" "}
                  {reasons.gained > 0 ? "+" : "−"}
                  {gain(Math.abs(reasons.gained))} by this step
                </span>
              )}
            </dd>
          </>
        )}
        {reasons.state !== null && (
          <>
            <dt>Observation</dt>
            <dd class="code state" data-testid="why-state">
              {reasons.state}
            </dd>
          </>
        )}
        {reasons.ending && (
          <>
            <dt>End</dt>
            <dd>
              {reasons.lastTests.length > 0 && <Tests tests={reasons.lastTests} />}
              <span data-testid="why-ending">{reasons.ending}</span>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

function Tests({ tests }: { tests: Reasons["tests"] }) {
  return (
    <ul class="tests">
      {tests.slice(-6).map(({ text, holds }, index) => (
        <li key={index}>
          <span class="code">{text}</span>{" "}
          <b class={holds ? "truth-true" : "truth-false"}>{holds ? "true" : "false"}</b>
        </li>
      ))}
    </ul>
  );
}
