// A program to read, not to edit: the same colours as in the editor.

import { kindOf, words } from "../editor/tokens";

interface Props {
  text: string;
  testid?: string;
  /** lines that are new, or gone, beside an earlier program */
  marks?: ("same" | "new" | "gone")[];
}

export function Code({ text, testid, marks }: Props) {
  return (
    <pre class="code-block" data-testid={testid} tabIndex={0}>
      {text.split("\n").map((line, place) => (
        <span key={place} class={`code-line ${marks?.[place] ?? "same"}`}>
          {coloured(line)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function coloured(line: string) {
  const parts = [];
  let end = 0;
  for (const { text, from, to } of words(line)) {
    parts.push(
      line.slice(end, from),
      <span key={from} class={`token-${kindOf(text)}`}>
        {text}
      </span>,
    );
    end = to;
  }
  return [...parts, line.slice(end)];
}
