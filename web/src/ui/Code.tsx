// A read-only program in the colours of the editor.

import { kindOf, words } from "../editor/tokens";

interface Props {
  text: string;
  testid?: string;
  /** new and removed lines, compared with an earlier program */
  marks?: ("same" | "new" | "gone")[];
}

export function Code({ text, testid, marks }: Props) {
  return (
    <pre class="code-block" data-testid={testid} tabIndex={0}>
      {text.split("\n").map((line, index) => (
        <span key={index} class={`code-line ${marks?.[index] ?? "same"}`}>
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
