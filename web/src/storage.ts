// What a browser keeps for us, when it lets us: private windows and full disks must not break the page.

export function keep(store: "local" | "session", key: string, value: unknown): void {
  try {
    storage(store).setItem(`studio.${key}`, JSON.stringify(value));
  } catch {
    // the page works without stored values
  }
}

export function recall<T>(store: "local" | "session", key: string): T | null {
  try {
    const text = storage(store).getItem(`studio.${key}`);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

function storage(store: "local" | "session"): Storage {
  return store === "local" ? localStorage : sessionStorage;
}
