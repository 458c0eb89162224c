// A choice between a few options: radio buttons that look like one control.

import { useId } from "preact/hooks";

interface Props<T extends string | number> {
  label: string;
  testid: string;
  options: readonly { value: T; title: string }[];
  value: T;
  onChange: (value: T) => void;
  /** for screen readers only */
  hiddenLabel?: boolean;
}

export function Choice<T extends string | number>(props: Props<T>) {
  const name = useId();
  return (
    <fieldset class="choice" data-testid={props.testid}>
      <legend class={props.hiddenLabel ? "unseen" : undefined}>{props.label}</legend>
      <div class="choice-row">
        {props.options.map(({ value, title }) => (
          <label key={value}>
            <input
              type="radio"
              name={name}
              checked={value === props.value}
              data-testid={`${props.testid}-${value}`}
              onChange={() => props.onChange(value)}
            />
            <span>{title}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
