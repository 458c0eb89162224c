// For the step that is shown: what the program looked at, what it found, what it did.

import { current, readPosition } from "./player";
import { type Reasons, reasonsAt } from "./reasons";

const number = (value: number): string => value.toFixed(2).replace("-", "−");

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
      <ul class="chips" aria-label="What Karel perceived">
        {reasons.perceived.map(({ name, holds }) => (
          <li
            key={name}
            class={holds ? "chip chip-true" : "chip chip-false"}
            data-testid={`perception-${name}`}
          >
            {name} <b>{holds ? "true" : "false"}</b>
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
            <dt>Looked at</dt>
            <dd>
              <Tests tests={reasons.tests} />
            </dd>
          </>
        )}
        <dt>Did</dt>
        <dd>
          {reasons.action ? (
            <>
              <b class="code did" data-testid="why-action">
                {reasons.action}
              </b>{" "}
              {reasons.effect}
            </>
          ) : (
            "Nothing yet: this is the world before the first step."
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
                  {Math.abs(reasons.gained).toFixed(Math.abs(reasons.gained) < 0.01 ? 4 : 3)} by this step
                </span>
              )}
            </dd>
          </>
        )}
        {reasons.ending && (
          <>
            <dt>Then</dt>
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
      {tests.slice(-6).map(({ text, holds }, place) => (
        <li key={place}>
          <span class="code">{text}</span>{" "}
          <b class={holds ? "truth-true" : "truth-false"}>{holds ? "true" : "false"}</b>
        </li>
      ))}
    </ul>
  );
}
