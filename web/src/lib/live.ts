// The feed of the office, followed. It tells what has changed; it is no source of numbers.

import { SSEParser, type SSEvent } from "./sse.ts";
import { asProblem, clock, counts, getJSON, Problem, send, whenDenied } from "./api.ts";
import { listenTo, showSoon, type Shown } from "./paint.ts";
import { invalidate, isDear, link, refreshAll, type LinkState } from "./store.ts";
import type { FeedItem, Work } from "../types.ts";

const past = 200; // events that are read at first
const most = 500; // items that are kept
const silence = 40_000; // ms without a sign of life: the connection is dead
const hiddenFor = 10_000; // ms that a page out of sight keeps its connections
const longest = 15_000; // ms between two tries
const tick = 5_000; // ms

export const isStep = (kind: string): boolean =>
  ["tool_started", "tool_done", "tool_redone", "turn_started", "replied", "noted", "masked", "resumed", "registry"].includes(kind);

export const feed = {
  items: [] as FeedItem[],
  seq: 0,
};

let known = 0; // the newest event when the page began

const shown: Shown = { listeners: new Set() };
const itemListeners = new Set<(it: FeedItem) => void>();
export const watchFeed = (fn: () => void): (() => void) => listenTo(shown, fn);

export function watchItems(fn: (it: FeedItem) => void): () => void {
  itemListeners.add(fn);
  return () => itemListeners.delete(fn);
}

function takeItem(it: FeedItem): void {
  if (it.seq !== undefined) {
    if (it.seq <= feed.seq) return; // it was there before the connection was lost
    feed.seq = it.seq;
  }
  for (const fn of itemListeners) fn(it);
  if (it.seq !== undefined && it.seq <= known && Date.parse(it.time) < clock.now() - 10_000) {
    keepItem(it); // of the past: what is shown was asked for after it
    return;
  }
  if (it.seq === undefined) {
    // What an agent is at moves runs and agents; a second is soon enough.
    invalidate(it.task, 900, (path) => /^(overview|agents|runs\/|tasks\/)/.test(path));
  } else {
    // Events come in groups. A diff changes with a commit or a merge alone.
    const moves = /^(run\.ended|merge|stack|pr\.|task\.|review)/.test(it.kind);
    invalidate(it.task, 15, (path) => moves || !isDear(path));
  }
  keepItem(it);
}

function keepItem(it: FeedItem): void {
  if (it.quiet || it.seq === undefined) return;
  const items = feed.items.length >= most ? feed.items.slice(-most + 50) : feed.items.slice();
  items.push(it);
  feed.items = items;
  showSoon(shown);
}

const open = new Set<AbortController>(); // streams that are read

/**
 * Sight keeps streams closed while a page is out of sight: a browser has six connections to a
 * server, for all of its tabs.
 */
class Sight {
  private away = false;
  private waiting: (() => void)[] = [];

  /** leave ends all streams, and those that begin wait for come. */
  leave(): void {
    this.away = true;
    for (const one of [...open]) one.abort();
  }

  come(): void {
    this.away = false;
    for (const go of this.waiting.splice(0)) go();
  }

  /** awaited resolves once the page is in sight, or at an abort. */
  async awaited(signal: AbortSignal): Promise<void> {
    if (!this.away || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

export const sight = new Sight();

/** readStream reads server-sent events until the stream ends; silence for long ends it, too. A page out of sight reads none. */
export async function readStream(path: string, headers: Record<string, string>, signal: AbortSignal, onOpen: () => void, onEvent: (e: SSEvent) => void): Promise<void> {
  await sight.awaited(signal);
  if (signal.aborted) return;
  const dead = new AbortController();
  open.add(dead);
  let timer = setTimeout(() => dead.abort(), silence);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => dead.abort(), silence);
  };
  counts.streams++;
  try {
    const r = await send(path, { headers: { ...headers, Accept: "text/event-stream" }, signal: AbortSignal.any([signal, dead.signal]) });
    onOpen();
    if (!r.body) return;
    const parser = new SSEParser(onEvent);
    const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      parser.push(value);
    }
  } finally {
    clearTimeout(timer);
    open.delete(dead);
    dead.abort();
  }
}

/**
 * followTask gives the events of a task: those that there are, and then those that come. read
 * is called when the first are read, or cannot be. Between them one may come twice.
 */
export function followTask(id: string, take: (it: FeedItem) => void, read: () => void): () => void {
  const stop = new AbortController();
  let early: FeedItem[] | null = []; // what comes while the past is read
  const unwatch = watchItems((it) => {
    if (it.task !== id || it.seq === undefined) return;
    if (early) early.push(it);
    else take(it);
  });
  void (async () => {
    try {
      const work = await getJSON<Work>("work");
      await readStream(`events?task=${id}&until=${work.seq}`, {}, stop.signal, () => {}, (e) => {
        if (e.event === "end") stop.abort();
        else if (e.event === "message") take(JSON.parse(e.data) as FeedItem);
      });
    } catch {
      // What comes from now on is given; the banner tells of a lost connection.
    }
    for (const it of early ?? []) take(it);
    early = null;
    read();
  })();
  return () => {
    stop.abort();
    unwatch();
  };
}

let wake: () => void = () => {};

/** retryNow ends the wait for the next try. */
export function retryNow(): void {
  wake();
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", wake, { once: true });
  });
  wake = () => {};
}

async function followOnce(signal: AbortSignal, begun: () => void): Promise<void> {
  const headers: Record<string, string> = {};
  let query = "";
  if (feed.seq === 0) {
    const work = await getJSON<Work>("work");
    known = work.seq;
    query = "?from=" + Math.max(1, work.seq - past + 1);
  } else {
    headers["Last-Event-ID"] = String(feed.seq);
  }
  await readStream("events" + query, headers, signal, begun, (e) => {
    if (e.event === "gap") {
      refreshAll();
      return;
    }
    if (e.event === "failure") throw new Problem(0, JSON.parse(e.data) as object);
    if (e.event === "message") takeItem(JSON.parse(e.data) as FeedItem);
  });
}

async function follow(signal: AbortSignal): Promise<void> {
  let tries = 0;
  while (!signal.aborted) {
    let why = "the connection ended";
    try {
      await followOnce(signal, () => {
        // What was shown may be of before: all of it is asked for again.
        if (tries > 0 || link.now.state === "lost") refreshAll();
        tries = 0;
        link.set({ state: "live", why: "", retryAt: 0 });
      });
    } catch (err) {
      const p = asProblem(err);
      if (p.status === 401) return;
      if (p.message) why = p.message;
    }
    if (signal.aborted || link.now.state === "denied") return;
    // The first try after an end is at once: a stream that fell silent is started again
    // without a word.
    if (tries++ === 0) {
      await waitFor(300, signal);
      continue;
    }
    const wait = Math.min(longest, 500 * 2 ** (tries - 1)) * (0.8 + 0.4 * Math.random());
    link.set({ state: "lost", why, retryAt: Date.now() + wait });
    await waitFor(wait, signal);
    link.set({ retryAt: 0 });
  }
}

/**
 * isRefreshDue says whether a page asks again without an event, at each tick of the clock. With
 * the feed some things move by the clock alone; without it a proxy may hold streams back and
 * let answers through.
 */
export const isRefreshDue = (state: LinkState, ticks: number): boolean => (state === "live" ? ticks % 3 === 0 : state !== "denied");

/** startFeed follows the feed until the page ends. A page that is not seen lets go of it. */
export function startFeed(): void {
  let stop = new AbortController();
  let hidden: ReturnType<typeof setTimeout> | undefined;
  whenDenied(() => {
    stop.abort();
    link.set({ state: "denied" });
  });
  const begin = () => {
    stop = new AbortController();
    void follow(stop.signal);
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hidden);
    if (document.hidden) {
      // Browsers open six connections to a server: tabs in the background leave them.
      hidden = setTimeout(() => {
        stop.abort();
        sight.leave();
      }, hiddenFor);
      return;
    }
    sight.come();
    refreshAll();
    if (stop.signal.aborted && link.now.state !== "denied") begin();
  });
  addEventListener("online", retryNow);
  // A browser may keep a page that was left, with its connections: it lets go of them, and
  // takes them up again when it is shown once more.
  addEventListener("pagehide", () => {
    for (const one of [...open]) one.abort();
  });
  addEventListener("pageshow", (e) => {
    if (e.persisted) refreshAll();
  });
  let ticks = 0;
  setInterval(() => {
    ticks++;
    if (!document.hidden && isRefreshDue(link.now.state, ticks)) refreshAll(false);
  }, tick);
  link.missed = () => wake();
  begin();
}
