// The beat of the page: all that is shown anew is shown together, so that a flood of events
// makes four renders a second, however many things on the page change by it.

import { counts } from "./api.ts";
import { Batch } from "./batch.ts";

/** Shown is something with listeners that render when it has changed. */
export interface Shown {
  readonly listeners: Set<() => void>;
}

/** showNow renders what has changed, outside the beat. */
export function showNow(all: Shown[]): void {
  counts.renders++;
  for (const one of all) for (const fn of [...one.listeners]) fn();
}

const beat = new Batch<Shown>([60, 190, 250], showNow);

/** showSoon renders it with the next beat. */
export function showSoon(one: Shown): void {
  beat.add(one);
}

/** listenTo has fn called when something is shown anew, and gives what ends that. */
export function listenTo(one: Shown, fn: () => void): () => void {
  one.listeners.add(fn);
  return () => one.listeners.delete(fn);
}
