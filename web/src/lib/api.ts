// Requests to the office. Every error is a problem with a code, a cause and a fix.

import { readToken, storeToken } from "./session.ts";

export interface ProblemBody {
  title?: string;
  status?: number;
  detail?: string;
  code?: string;
  hint?: string;
}

export class Problem extends Error {
  readonly status: number; // 0: the office does not answer
  readonly code: string;
  readonly detail: string;
  readonly hint: string;

  constructor(status: number, body: ProblemBody) {
    super(body.title || "the office answered " + status);
    this.status = status;
    this.code = body.code ?? "";
    this.detail = body.detail ?? "";
    this.hint = body.hint ?? "";
  }

  get isLoss(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 504;
  }

  /** isMissing: the office is of a version that does not have this. */
  get isMissing(): boolean {
    return (this.status === 404 && this.code === "") || this.status === 405 || this.status === 501;
  }
}

export function asProblem(err: unknown): Problem {
  if (err instanceof Problem) return err;
  return new Problem(0, { title: "the office does not answer", detail: err instanceof Error ? err.message : String(err), hint: "company serve starts it; the page tries again by itself" });
}

/** clock is the office's time, which each answer tells. */
export const clock = {
  ahead: 0,
  now(): number {
    return Date.now() + this.ahead;
  },
  hear(r: Response): void {
    const at = Date.parse(r.headers.get("Office-Time") ?? "");
    if (Number.isFinite(at)) this.ahead = at - Date.now();
  },
};

/** counts are the requests and renders so far, and the most renders within a second, for tests of storms. */
export const counts = { requests: 0, unchanged: 0, renders: 0, most: 0, streams: 0 };

const onDenied = new Set<() => void>();

/** whenDenied calls fn when the office takes the token no more. */
export function whenDenied(fn: () => void): () => void {
  onDenied.add(fn);
  return () => onDenied.delete(fn);
}

export interface Ask {
  method?: string;
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  anonymous?: boolean; // without the token, which a refusal leaves as it is
}

/** send asks below /api/v1/ and gives the response; anything but success is a Problem. */
export async function send(path: string, init: Ask = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...init.headers };
  const { anonymous, ...rest } = init;
  const token = readToken();
  if (token && !anonymous) headers["Authorization"] = "Bearer " + token;
  counts.requests++;
  let r: Response;
  try {
    r = await fetch("/api/v1/" + path, { ...rest, headers, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (err) {
    if (init.signal?.aborted) throw err;
    throw asProblem(err);
  }
  clock.hear(r);
  if (r.ok || r.status === 304) return r;
  const body = await readProblem(r);
  if (r.status === 401 && !anonymous) {
    storeToken("");
    for (const fn of onDenied) fn();
  }
  throw new Problem(r.status, body);
}

async function readProblem(r: Response): Promise<ProblemBody> {
  try {
    const text = await r.text();
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body as ProblemBody;
  } catch {
    // It is not a problem document: the status tells what there is to tell.
  }
  return { title: r.status === 404 ? "this office does not have that" : `the office answered ${r.status} ${r.statusText}` };
}

/** exchangeTicket gives the token of a ticket, which is taken once. */
export async function exchangeTicket(ticket: string): Promise<string> {
  const r = await send("session", { method: "POST", body: JSON.stringify({ ticket }), headers: { "Content-Type": "application/json" }, anonymous: true });
  return ((await r.json()) as { token: string }).token;
}

export async function getJSON<T>(path: string): Promise<T> {
  return (await (await send(path)).json()) as T;
}

/** newKey is the id of one command, which makes a repeat harmless. */
export function newKey(): string {
  const b = crypto.getRandomValues(new Uint8Array(12));
  return "c-" + Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
}

/** post sends JSON under a key. A lost answer is asked for once more under the same key. */
export async function post<T>(path: string, body: unknown, key = newKey()): Promise<T> {
  const init = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "Idempotency-Key": key } };
  try {
    return (await (await send(path, init)).json()) as T;
  } catch (err) {
    if (!asProblem(err).isLoss) throw err;
    await new Promise((resolve) => setTimeout(resolve, 700));
    return (await (await send(path, init)).json()) as T;
  }
}
