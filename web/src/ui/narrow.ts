// Whether the page is one scrolling column instead of columns side by side.

import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 1149px), (max-height: 599px)");
export const narrow = signal(query.matches);
query.addEventListener("change", () => {
  narrow.value = query.matches;
});
