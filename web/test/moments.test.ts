import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf, RunMoments } from "../src/lib/moments.ts";
import type { FeedItem } from "../src/types.ts";

const begin = Date.parse("2026-11-22T10:00:00Z");

const item = (seq: number, kind: string, at: number, run = "t1-01.1"): FeedItem => ({ seq, kind, run, time: new Date(begin + at).toISOString(), mark: "info", text: "" });

test("a run is split into its queue, its start and its work", () => {
  const m = new RunMoments();
  for (const it of [item(1, "run.offered", 0), item(2, "run.claimed", 3000), item(3, "budget.reserved", 4500), item(4, "budget.reserved", 9000), item(5, "run.ended", 9500)]) m.take(it);
  assert.deepEqual(partsOf(m.byRun.get("t1-01.1"), begin + 3000, begin + 9500), [
    { kind: "queue", from: begin, to: begin + 3000 },
    { kind: "start", from: begin + 3000, to: begin + 4500 },
    { kind: "work", from: begin + 4500, to: begin + 9500 },
  ]);
});

test("a run that comes up, a run of a manager, and one that nothing is known of", () => {
  const m = new RunMoments();
  for (const it of [item(1, "run.offered", 0), item(2, "run.claimed", 10), item(3, "run.claimed", 20, "t1.m1"), item(4, "budget.reserved", 30, "t1.m1")]) m.take(it);
  assert.deepEqual(partsOf(m.byRun.get("t1-01.1"), begin + 10, begin + 60).map((p) => p.kind), ["queue", "start"]);
  assert.deepEqual(partsOf(m.byRun.get("t1.m1"), begin + 20, begin + 60).map((p) => p.kind), ["start", "work"]);
  assert.deepEqual(partsOf(undefined, begin, begin + 60), [{ kind: "work", from: begin, to: begin + 60 }]);
});

test("a run that was let go and is offered again starts again; what comes twice changes nothing", () => {
  const m = new RunMoments();
  const first = [item(1, "run.offered", 0), item(2, "run.claimed", 1000), item(3, "budget.reserved", 2000)];
  for (const it of [...first, item(4, "run.released", 3000), item(5, "run.offered", 3000), item(6, "run.claimed", 5000)]) m.take(it);
  for (const it of first) assert.equal(m.take(it), false);
  assert.deepEqual(partsOf(m.byRun.get("t1-01.1"), begin + 5000, begin + 6000), [
    { kind: "queue", from: begin + 3000, to: begin + 5000 },
    // What was set aside for its model still stands: it needs no more before it asks again.
    { kind: "work", from: begin + 5000, to: begin + 6000 },
  ]);
  // The view is of a newer claim than the feed so far.
  assert.deepEqual(partsOf(m.byRun.get("t1-01.1"), begin + 20_000, begin + 21_000).map((p) => p.kind), ["work"]);
});
