// Format returns of any size, with a typographic minus sign.

/** Three decimals where returns are around 1, fewer where they are large. */
export function decimals(value: number | undefined): string {
  return value === undefined ? "–" : fixed(value, Math.abs(value) < 10 ? 3 : 1);
}

/** The same, shorter. */
export function short(value: number): string {
  return fixed(value, Math.abs(value) < 10 ? 2 : Number.isInteger(value) ? 0 : 1);
}

function fixed(value: number, digits: number): string {
  return value.toFixed(digits).replace("-", "−");
}

/** At most five round numbers between two bounds, for the lines of a plot. */
export function levels(low: number, high: number): number[] {
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough)!;
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + 1e-9; at++) found.push(at * step);
  return found;
}
