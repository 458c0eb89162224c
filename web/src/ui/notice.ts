// One short message at a time, that goes by itself.

import { signal } from "@preact/signals";

export const notice = signal<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = null;
  }, 5000);
}
