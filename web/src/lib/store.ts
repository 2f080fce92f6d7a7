// One store of resources: what the office answered, by path. Components subscribe to a
// path; the feed says which of them to ask for again. Numbers come from answers alone.

import { Refresher } from "./batch.ts";
import { asProblem, clock, counts, send, type Problem } from "./api.ts";
import { showNow, showSoon } from "./paint.ts";

export interface Entry<T> {
  data: T | undefined;
  at: number; // of the office's clock, when data was last confirmed
  problem: Problem | null; // of the newest try; data may be older
}

const empty: Entry<never> = { data: undefined, at: 0, problem: null };

const askEvery = 250;
const keepFor = 60_000; // ms that a resource is kept which no component looks at

class Resource {
  readonly path: string;
  entry: Entry<unknown> = empty;
  etag = "";
  stale = true;
  readonly listeners = new Set<() => void>();
  readonly refresher: Refresher;
  dropped = 0;

  constructor(path: string) {
    this.path = path;
    this.refresher = new Refresher(askEvery, () => this.ask());
  }

  private async ask(): Promise<void> {
    if (this.listeners.size === 0 || document.hidden) {
      this.stale = true;
      return;
    }
    this.stale = false;
    try {
      const r = await send(this.path, this.etag ? { headers: { "If-None-Match": this.etag } } : {});
      link.answered();
      if (r.status === 304) {
        counts.unchanged++;
        this.entry = { ...this.entry, at: clock.now(), problem: null };
        return;
      }
      const data: unknown = await r.json();
      this.etag = r.headers.get("ETag") ?? "";
      const first = this.entry.data === undefined;
      this.entry = { data, at: clock.now(), problem: null };
      this.show(first);
    } catch (err) {
      const problem = asProblem(err);
      if (problem.isLoss) link.missed(problem);
      this.stale = true;
      this.entry = { ...this.entry, problem };
      this.show(false);
    }
  }

  private show(atOnce: boolean): void {
    if (atOnce) showNow(this);
    else showSoon(this);
  }
}

const resources = new Map<string, Resource>();

function find(path: string): Resource {
  let r = resources.get(path);
  if (!r) {
    r = new Resource(path);
    resources.set(path, r);
  }
  return r;
}

export function readEntry<T>(path: string): Entry<T> {
  return (resources.get(path)?.entry ?? empty) as Entry<T>;
}

/** watchResource subscribes to a path, and has it asked for where it is not fresh. */
export function watchResource(path: string, fn: () => void): () => void {
  const r = find(path);
  r.listeners.add(fn);
  if (r.stale) r.refresher.want();
  return () => {
    r.listeners.delete(fn);
    if (r.listeners.size === 0) {
      r.stale = true; // events pass by what has no reader
      r.dropped = clock.now();
      for (const [path, old] of resources) {
        if (old.listeners.size === 0 && clock.now() - old.dropped > keepFor) {
          old.refresher.stop();
          resources.delete(path);
        }
      }
    }
  };
}

/** askAgain has a path asked for now, as after a command. */
export function askAgain(path: string): void {
  find(path).refresher.want();
}

/** concerns says whether what happens to a task can change a resource. */
export function concerns(path: string, task: string | undefined): boolean {
  const m = /^(tasks|subtasks|runs|shown|diffs|approvals|costs|summaries)\/([^/?]+)/.exec(path);
  if (!m) return !/^(doctor|config|projects|prs\/)/.test(path);
  const id = m[2] ?? "";
  if (m[1] === "approvals") return true;
  return task === undefined ? true : id === task || id.startsWith(task + "-");
}

/** invalidate has every resource asked for again that an event can have changed. */
export function invalidate(task: string | undefined, after = 0, but: (path: string) => boolean = () => true): void {
  for (const r of resources.values()) {
    if (!concerns(r.path, task) || !but(r.path)) continue;
    r.stale = true;
    if (r.listeners.size > 0) r.refresher.want(after);
  }
}

/** isDear says whether an answer costs the office more than a look at its state. */
export const isDear = (path: string): boolean => /^(diffs|doctor|config|prs\/)/.test(path);

/** refreshAll has everything asked for again: events were missed, or the page is seen again. */
export function refreshAll(dear = true): void {
  for (const r of resources.values()) {
    if (!dear && isDear(r.path)) continue;
    r.stale = true;
    if (r.listeners.size > 0) r.refresher.want();
  }
}

/** LinkState is how the page is connected. */
export type LinkState = "connecting" | "live" | "lost" | "denied";

export interface Link {
  state: LinkState;
  since: number; // of the office's clock, when it was lost or denied
  why: string;
  retryAt: number; // wall clock; 0: a try is under way
}

const linkListeners = new Set<() => void>();

export const link = {
  now: { state: "connecting", since: 0, why: "", retryAt: 0 } as Link,
  set(next: Partial<Link>): void {
    const was = this.now;
    this.now = { ...was, ...next };
    if ((next.state === "lost" || next.state === "denied") && was.state !== "lost" && was.state !== next.state) this.now.since = clock.now();
    for (const fn of [...linkListeners]) fn();
  },
  answered(): void {},
  missed(_p: Problem): void {},
  watch(fn: () => void): () => void {
    linkListeners.add(fn);
    return () => linkListeners.delete(fn);
  },
};
