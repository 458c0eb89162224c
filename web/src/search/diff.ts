// Line differences between a program and the previous one.

export interface Diff {
  text: string;
  marks: ("same" | "new" | "gone")[];
}

/** Longest common subsequence of the lines; programs have a few dozen. */
export function diffLines(before: string, after: string): Diff {
  const [old, now] = [before ? before.split("\n") : [], after.split("\n")];
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i]![j] =
        old[i] === now[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: string[] = [];
  const marks: Diff["marks"] = [];
  const add = (line: string, mark: Diff["marks"][number]): void => void (lines.push(line), marks.push(mark));
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      add(now[j]!, "same");
      [i, j] = [i + 1, j + 1];
    } else if (j === now.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!))
      add(old[i++]!, "gone");
    else add(now[j++]!, "new");
  }
  return { text: lines.join("\n"), marks };
}
