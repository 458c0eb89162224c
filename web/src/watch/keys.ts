// Playback by keyboard, unless the focused element uses the keys itself.

import { goTo, longest, position, togglePlay } from "./player";

export function keepKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (
      target.closest(
        "input, select, textarea, [contenteditable], [role=slider], [role=dialog], [data-own-keys]",
      )
    )
      return;
    const onControl = target.closest("button, a, summary, [role=tab]") !== null;
    const act = actions(onControl)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function actions(onControl: boolean): Record<string, () => void> {
  return {
    ...(onControl ? {} : { " ": togglePlay }), // on a button, space presses that button
    ArrowLeft: () => goTo(position.value - 1),
    ArrowRight: () => goTo(position.value + 1),
    Home: () => goTo(0),
    End: () => goTo(longest.value),
  };
}
