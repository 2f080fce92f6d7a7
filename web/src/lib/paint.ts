// The beat of the page: all updates are shown together, so that a flood of events
// makes four renders a second, however many things on the page change by it.

import { counts } from "./api.ts";
import { Batch } from "./batch.ts";

/** Shown is something with listeners that render when it has changed. */
export interface Shown {
  readonly listeners: Set<() => void>;
}

let times: number[] = []; // of the renders of the last second

function render(all: Shown[]): void {
  const now = performance.now();
  times = times.filter((t) => t > now - 995); // a timer may be some ms early
  times.push(now);
  counts.renders++;
  counts.most = Math.max(counts.most, times.length);
  for (const one of all) for (const fn of [...one.listeners]) fn();
}

const beat = new Batch<Shown>([60, 190, 250], render);

/** showNow renders it at once: something is there for the first time. The next beat waits for longer. */
export function showNow(one: Shown): void {
  render([one]);
  beat.count();
}

/** showSoon renders it with the next beat. */
export function showSoon(one: Shown): void {
  beat.add(one);
}

/** listenTo has fn called when the page is drawn, and gives what ends that. */
export function listenTo(one: Shown, fn: () => void): () => void {
  one.listeners.add(fn);
  return () => one.listeners.delete(fn);
}
