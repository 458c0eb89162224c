// Light or dark: the system's setting, unless the user has chosen one.

import { computed, effect, signal } from "@preact/signals";
import { keep, recall } from "../storage";

type Theme = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
const chosen = signal<Theme | null>(recall<Theme>("local", "theme"));

export const theme = computed<Theme>(() => chosen.value ?? (systemDark.value ? "dark" : "light"));

export const calm = matchMedia("(prefers-reduced-motion: reduce)");

export function keepTheme(): void {
  system.addEventListener("change", () => {
    systemDark.value = system.matches;
  });
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

export function switchTheme(): void {
  chosen.value = theme.value === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = chosen.value; // before the new colours are read
  keep("local", "theme", chosen.value);
}
