import assert from "node:assert/strict";
import { test } from "node:test";
import { startedAfter } from "../src/lib/format.ts";
import type { Run, Subtask, TaskDetail } from "../src/types.ts";

const task = (...claimed: (string | null)[]): TaskDetail =>
  ({ submitted: "2026-01-02T03:04:05Z", plan: [], runs: claimed.map((at) => ({ claimed: at }) as Run) }) as unknown as TaskDetail;

test("the wait of a task for its first run is apart from its work", () => {
  assert.equal(startedAfter(task("2026-01-02T03:05:00Z", "2026-01-02T03:04:30Z", null)), ", 25s until its first run");
  assert.equal(startedAfter(task("2026-01-02T03:04:05.400Z")), "");
  assert.equal(startedAfter(task(null)), "");
  assert.equal(startedAfter(task()), "");
  const short = { ...task(), plan: [{ started: "2026-01-02T03:04:15Z" } as Subtask] };
  assert.equal(startedAfter(short), ", 10s until its first run");
  // Of a run that was taken up again only the last claim is known.
  assert.equal(startedAfter({ ...short, runs: [{ claimed: "2026-01-02T03:04:10Z", earlier_ms: 900 } as Run] }), ", 10s until its first run");
});
