// The page's icons, drawn on a 20 × 20 grid.

const PATHS = {
  play: "M6 4 16 10 6 16Z",
  pause: "M6 4H8.500V16H6ZM11.500 4H14V16H11.500Z",
  back: "M13 4 6 10 13 16ZM4 4H5.500V16H4Z",
  forward: "M7 4 14 10 7 16ZM14.500 4H16V16H14.500Z",
  first: "M15 4 9 10 15 16ZM9 4 3.500 10 9 16Z",
  last: "M5 4 11 10 5 16ZM11 4 16.500 10 11 16Z",
  undo: "M8 3 3 7.500 8 12V9H12A3 3 0 0 1 12 15H8V17H12A5 5 0 0 0 12 7H8Z",
  redo: "M12 3 17 7.500 12 12V9H8A3 3 0 0 0 8 15H12V17H8A5 5 0 0 1 8 7H12Z",
  theme: "M10 2A8 8 0 1 1 10 18 8 8 0 0 1 10 2ZM10 3.800V16.200A6.200 6.200 0 0 0 10 3.800Z",
  share:
    "M10 2 14.500 6.500 13.300 7.700 10.800 5.200V12.500H9.200V5.200L6.700 7.700 5.500 6.500ZM4 10H5.600V16.400H14.400V10H16V18H4Z",
  close:
    "M5.200 4 10 8.800 14.800 4 16 5.200 11.200 10 16 14.800 14.800 16 10 11.200 5.200 16 4 14.800 8.800 10 4 5.200Z",
  turn: "M10 3A7 7 0 1 0 17 10H15A5 5 0 1 1 10 5V8L15 4 10 0Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  );
}
