// Links and files with a program, its task and its worlds.

import type { Shared } from "./document";

/** JSON in base64url: short enough for a link, and ASCII only. */
export function toHash(shared: Shared): string {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#s=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

export function fromHash(hash: string): Partial<Shared> | null {
  const match = /(?:^#|&)s=([A-Za-z0-9_-]+)/.exec(hash);
  if (!match?.[1]) return null;
  try {
    const text = atob(match[1].replaceAll("-", "+").replaceAll("_", "/"));
    return fromText(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch {
    return null;
  }
}

/** Read a saved file, or the text of a program. */
export function fromFile(text: string): Partial<Shared> {
  return fromText(text) ?? { program: text };
}

function fromText(text: string): Partial<Shared> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

export function download(name: string, contents: Blob): void {
  const address = URL.createObjectURL(contents);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function downloadJson(name: string, value: unknown): void {
  download(name, new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: "application/json" }));
}
