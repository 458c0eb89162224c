// Best and mean return over the programs tried.

import { useBox } from "../ui/box";
import { task } from "../document";
import { levels } from "../score/numbers";
import type { Search } from "./searching";

const [LEFT, RIGHT, BOTTOM, TOP] = [34, 8, 26, 10];

export function Curve({ curve }: { curve: Search["curve"] }) {
  const [host, box] = useBox<HTMLDivElement>();
  const [width, height] = [Math.max(box.value.width, 100), Math.max(box.value.height, 80)];
  const most = Math.max(1, curve.at(-1)?.evaluations ?? 1);
  const values = curve.flatMap(({ best, mean }) => [best, mean]);
  // Returns of Karel are from 0 to 1; for other tasks the range comes from the observed values.
  const unitRange = task.value?.best === 1;
  const low = Math.min(0, ...values);
  const high = Math.max(unitRange || values.length === 0 ? 1 : low + 1e-6, ...values);
  const x = (evaluations: number): number => LEFT + (evaluations / most) * (width - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low)) * (height - TOP - BOTTOM);
  /** A step curve: a value is drawn until the next one. */
  const line = (of: (point: Search["curve"][number]) => number): string =>
    curve
      .map((point, index) => {
        const [h, v] = [x(point.evaluations).toFixed(1), y(of(point)).toFixed(1)];
        return index ? `H${h}V${v}` : `M${h} ${v}`;
      })
      .join("");
  const last = curve.at(-1);
  const marked = unitRange ? (low < 0 ? [low, 0, 0.5, 1] : [0, 0.5, 1]) : levels(low, high);
  return (
    <figure class="curve">
      <div class="curve-host" ref={host}>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={
            last
              ? `Best return ${last.best.toFixed(2)} after ${last.evaluations} programs`
              : "No programs tried yet"
          }
          data-testid="curve"
          data-points={curve.length}
        >
          {marked.map((level) => (
            <g key={level}>
              <line class="axis" x1={LEFT} x2={width - RIGHT} y1={y(level)} y2={y(level)} />
              <text x={LEFT - 8} y={y(level) + 4} text-anchor="end">
                {(Number.isInteger(level) ? String(level) : level.toFixed(1)).replace("-", "−")}
              </text>
            </g>
          ))}
          <text x={LEFT} y={height - 8}>
            0
          </text>
          {last && (
            <text x={width - RIGHT} y={height - 8} text-anchor="end">
              {most.toLocaleString("en")} programs
            </text>
          )}
          <path class="curve-mean" d={line(({ mean }) => mean)} />
          <path class="curve-best" d={line(({ best }) => best)} />
        </svg>
      </div>
      <figcaption class="legend">
        <span class="key key-best">best so far</span>
        <span class="key key-mean">mean of a round</span>
      </figcaption>
    </figure>
  );
}
