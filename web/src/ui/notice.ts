// One short message at a time, which disappears after five seconds.

import { signal } from "@preact/signals";

export const notice = signal<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = null;
  }, 5000);
}
