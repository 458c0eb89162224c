// A number within bounds. The typed value applies on Enter or when the field loses the focus.

import { useId, useState } from "preact/hooks";

interface Props {
  label: string;
  testid: string;
  value: number;
  least: number;
  most: number;
  disabled?: boolean;
  hiddenLabel?: boolean;
  /** width in digits, if less than the bounds need */
  digits?: number;
  onChange: (value: number) => void;
}

export function NumberField(props: Props) {
  const id = useId();
  // The typed text stays when the rest of the page changes.
  const [typed, setTyped] = useState<string | null>(null);
  function take(input: HTMLInputElement): void {
    const asked = input.valueAsNumber;
    const value = Number.isFinite(asked)
      ? Math.max(props.least, Math.min(props.most, Math.round(asked)))
      : props.value;
    input.value = String(value);
    setTyped(null);
    if (value !== props.value) props.onChange(value);
  }
  return (
    <span class="field">
      <label for={id} class={props.hiddenLabel ? "unseen" : undefined}>
        {props.label}
      </label>
      <input
        id={id}
        type="number"
        inputmode="numeric"
        data-testid={props.testid}
        value={typed ?? props.value}
        min={props.least}
        max={props.most}
        style={{ width: `calc(${Math.min(String(props.most).length, props.digits ?? 7)}ch + 18px)` }}
        disabled={props.disabled}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
        onChange={(event) => take(event.currentTarget)}
      />
    </span>
  );
}
