// Play, pause, step, scrub, speed.

import { useId } from "preact/hooks";
import { Button } from "../ui/Button";
import { FASTEST, goTo, longest, pace, playing, position, readPosition, togglePlay } from "./player";

function speed(power: number): string {
  const steps = 2 ** power;
  return steps < 10 ? steps.toFixed(steps % 1 ? 1 : 0) : Math.round(steps).toLocaleString("en");
}

export function Transport() {
  const [scrub, rate] = [useId(), useId()];
  const end = longest.value;
  return (
    <div class="transport" role="group" aria-label="Playback">
      <div class="transport-row">
        <label for={scrub} class="unseen">
          Step
        </label>
        <input
          id={scrub}
          class="scrub"
          type="range"
          data-testid="scrub"
          min={0}
          max={Math.max(1, end)}
          step={1}
          value={readPosition.value}
          aria-valuetext={`Step ${readPosition.value} of ${end}`}
          onInput={(event) => goTo(event.currentTarget.valueAsNumber)}
        />
        <output class="counter" data-testid="position" data-position={readPosition.value} for={scrub}>
          {readPosition.value.toLocaleString("en")} / {end.toLocaleString("en")}
        </output>
      </div>
      <div class="transport-row">
        <div class="row tight">
          <Button quiet testid="to-start" label="To the start (Home)" icon="first" onClick={() => goTo(0)} />
          <Button
            quiet
            testid="step-back"
            label="One step back (left arrow)"
            icon="back"
            onClick={() => goTo(position.value - 1)}
          />
          <Button
            main
            testid="play"
            label={playing.value ? "Pause (space)" : "Play (space)"}
            icon={playing.value ? "pause" : "play"}
            onClick={togglePlay}
          />
          <Button
            quiet
            testid="step-forward"
            label="One step forward (right arrow)"
            icon="forward"
            onClick={() => goTo(position.value + 1)}
          />
          <Button quiet testid="to-end" label="To the end (End)" icon="last" onClick={() => goTo(end)} />
        </div>
        <span class="speed">
          <label for={rate} class="faint">
            Speed
          </label>
          <input
            id={rate}
            type="range"
            data-testid="speed"
            min={0}
            max={FASTEST}
            step={0.5}
            value={pace.value}
            aria-valuetext={`${speed(pace.value)} steps per second`}
            onInput={(event) => {
              pace.value = event.currentTarget.valueAsNumber;
            }}
          />
          <output class="faint" for={rate}>
            {speed(pace.value)}/s
          </output>
        </span>
      </div>
    </div>
  );
}
