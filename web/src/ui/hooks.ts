import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { clock } from "../lib/api.ts";
import { keepDraft, readDraft } from "../lib/drafts.ts";
import { feed, watchFeed } from "../lib/live.ts";
import { listenTo, showSoon, type Shown } from "../lib/paint.ts";
import { parseRoute, readAddress, setQuery, watchAddress, goTo, type Route } from "../lib/router.ts";
import { link, readEntry, watchResource, type Entry, type Link } from "../lib/store.ts";
import type { FeedItem } from "../types.ts";

const nothing: Entry<never> = { data: undefined, at: 0, problem: null };

/** useResource is what the office answered to a path, kept up to date. null asks nothing. */
export function useResource<T>(path: string | null): Entry<T> {
  const watch = useCallback((fn: () => void) => (path === null ? () => {} : watchResource(path, fn)), [path]);
  return useSyncExternalStore(watch, () => (path === null ? (nothing as Entry<T>) : readEntry<T>(path)));
}

export function useAddress(): string {
  return useSyncExternalStore(watchAddress, readAddress);
}

export function useRoute(): Route {
  return parseRoute(useAddress().split("?")[0] ?? "/");
}

/** useQuery is a field of the address, and what sets it. */
export function useQuery(key: string): [string, (value: string) => void] {
  const search = useAddress().split("?")[1] ?? "";
  const value = new URLSearchParams(search).get(key) ?? "";
  const set = useCallback((next: string) => goTo(location.pathname + setQuery(location.search, { [key]: next }), true), [key]);
  return [value, set];
}

/** useDraft is a text that is being typed, which stays when its page is left, and what sets it. */
export function useDraft(key: string): [string, (text: string) => void] {
  const [typed, setTyped] = useState({ key, text: readDraft(key) });
  const set = useCallback(
    (text: string) => {
      keepDraft(key, text);
      setTyped({ key, text });
    },
    [key],
  );
  return [typed.key === key ? typed.text : readDraft(key), set];
}

export function useLink(): Link {
  return useSyncExternalStore(
    (fn) => link.watch(fn),
    () => link.now,
  );
}

export function useFeed(): FeedItem[] {
  return useSyncExternalStore(watchFeed, () => feed.items);
}

const ticking: Shown = { listeners: new Set() };
let ticks = 0;
setInterval(() => {
  if (document.hidden) return;
  ticks++;
  if (ticking.listeners.size > 0) showSoon(ticking);
}, 1000);

const watchTicks = (fn: () => void): (() => void) => listenTo(ticking, fn);

/** useNow is the office's time, updated each second. */
export function useNow(): number {
  useSyncExternalStore(watchTicks, () => ticks);
  return clock.now();
}

/** useNarrow reports whether the window is as narrow as a phone. */
export function useNarrow(): boolean {
  return useSyncExternalStore(watchWidth, () => narrow.matches);
}

const narrow = matchMedia("(max-width: 760px)");

const watchWidth = (fn: () => void): (() => void) => {
  narrow.addEventListener("change", fn);
  return () => narrow.removeEventListener("change", fn);
};

/** useLate is true when a state lasted for some ms: a quick answer shows no skeleton. */
export function useLate(on: boolean, ms = 150): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!on) {
      setLate(false);
      return;
    }
    const id = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(id);
  }, [on, ms]);
  return on && late;
}
