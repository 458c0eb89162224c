// The current size of an element.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Box {
  width: number;
  height: number;
}

export function useBox<T extends HTMLElement>(): [ref: RefObject<T | null>, box: Signal<Box>] {
  const ref = useRef<T>(null);
  const box = useSignal<Box>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current!;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width !== box.value.width || height !== box.value.height) box.value = { width, height };
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, box];
}
