import assert from "node:assert/strict";
import { test } from "node:test";
import { startedAfter } from "../src/lib/format.ts";
import type { Run, TaskDetail } from "../src/types.ts";

const task = (...claimed: (string | null)[]): TaskDetail =>
  ({ submitted: "2026-01-02T03:04:05Z", runs: claimed.map((at) => ({ claimed: at }) as Run) }) as TaskDetail;

test("the wait of a task for its first run is apart from its work", () => {
  assert.equal(startedAfter(task("2026-01-02T03:05:00Z", "2026-01-02T03:04:30Z", null)), ", 25s until its first run");
  assert.equal(startedAfter(task("2026-01-02T03:04:05.400Z")), "");
  assert.equal(startedAfter(task(null)), "");
  assert.equal(startedAfter(task()), "");
});
