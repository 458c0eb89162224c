// The colours of worlds from the style sheet: the colours of the project's pictures, light and dark.

import { computed } from "@preact/signals";
import { theme } from "../ui/theme";

export interface Colours {
  floor: string;
  grid: string;
  wall: string;
  exit: string;
  marker: string;
  markerText: string;
  karel: string;
  ink: string;
  faint: string;
  accent: string;
  good: string;
  panel: string;
  /** colours of the path, oldest first */
  trail: string[];
}

const SHADES = 12;

export const colours = computed<Colours>(() => {
  void theme.value;
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const [floor, karel] = [read("world-floor"), read("world-karel")];
  return {
    floor,
    karel,
    grid: read("world-grid"),
    wall: read("world-wall"),
    exit: read("world-exit"),
    marker: read("world-marker"),
    markerText: read("world-marker-text"),
    ink: read("ink"),
    faint: read("ink-faint"),
    accent: read("accent"),
    good: read("good"),
    panel: read("panel"),
    trail: Array.from({ length: SHADES }, (_, age) => mix(floor, karel, 0.14 + (0.66 * age) / (SHADES - 1))),
  };
});

/** Mix two #rrggbb colours; fraction 0 is the first, 1 the second. */
function mix(first: string, second: string, fraction: number): string {
  const part = (colour: string, at: number): number => Number.parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(part(first, at) * (1 - fraction) + part(second, at) * fraction));
  return `rgb(${mixed.join(" ")})`;
}
