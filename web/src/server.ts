// Requests to the server. If it does not answer, `connection` changes, and the page retries until it does.

import { signal } from "@preact/signals";
import { keep, recall } from "./storage";

export type Connection = "fine" | "gone" | "token";

export const connection = signal<Connection>("fine");
/** increases whenever the server is back, so that failed requests are repeated */
export const returned = signal(0);

let token: string | null = recall<string>("session", "token");

/** Read the token after the # in the address that the command line prints, and remove it from the address. */
export function takeTokenFromAddress(): void {
  const match = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (!match?.[1]) return;
  setToken(decodeURIComponent(match[1]));
  const rest = location.hash.replace(match[0], "").replace(/^#?&?/, "");
  history.replaceState(null, "", rest ? `#${rest}` : location.pathname + location.search);
}

export function setToken(value: string): void {
  token = value;
  keep("session", "token", value);
  if (connection.value === "token") void askAgain(0);
}

/** An error that the server reported. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retry: number | null,
  ) {
    super(message);
  }
}

/** The server can't be reached, or needs a token; the banner shows which. */
export class Away extends Error {}

export async function get<T>(path: string, stop?: AbortSignal): Promise<T> {
  return (await (await request(path, { signal: stop ?? null })).json()) as T;
}

export async function post<T>(path: string, body: unknown, stop?: AbortSignal): Promise<T> {
  return (await (await send(path, body, stop)).json()) as T;
}

export async function postForBlob(path: string, body: unknown): Promise<Blob> {
  return await (await send(path, body)).blob();
}

function send(path: string, body: unknown, stop?: AbortSignal): Promise<Response> {
  return request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: stop ?? null,
  });
}

/** Read server-sent events until they end. With fetch, since EventSource hides the reason of an error. */
export async function listen(
  path: string,
  stop: AbortSignal,
  onEvent: (event: string, data: unknown) => void,
): Promise<void> {
  const address = token === null ? path : `${path}&token=${encodeURIComponent(token)}`;
  const response = await request(address, { signal: stop, headers: { Accept: "text/event-stream" } });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value.replace(/\r/g, "")).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const lines = part.split("\n");
      const event =
        lines
          .find((line) => line.startsWith("event:"))
          ?.slice(6)
          .trim() ?? "message";
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
      if (data.length) onEvent(event, JSON.parse(data.join("\n")));
    }
  }
}

async function request(path: string, options: RequestInit): Promise<Response> {
  const headers = new Headers(options.headers);
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    lose("gone");
    throw new Away("The server does not answer.");
  }
  if (response.status === 401) {
    lose("token");
    throw new Away("The server needs a token.");
  }
  if (!response.ok) {
    const answer = (await response.json().catch(() => ({}))) as { error?: string; retry?: number };
    throw new Refusal(
      response.status,
      answer.error ?? `The server answered ${response.status}.`,
      answer.retry ?? null,
    );
  }
  return response;
}

function lose(how: "gone" | "token"): void {
  if (connection.value === how) return;
  connection.value = how;
  if (how === "gone") void askAgain(500);
}

async function askAgain(delay: number): Promise<void> {
  await new Promise((done) => setTimeout(done, delay));
  try {
    await request("api/about", {});
  } catch (error) {
    if (error instanceof Away && connection.value === "gone")
      void askAgain(Math.min(delay * 1.5 + 250, 5000));
    return;
  }
  connection.value = "fine";
  returned.value += 1;
}
