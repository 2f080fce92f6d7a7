import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefreshDue } from "../src/lib/live.ts";

test("a page without the feed asks every 5 s, one with it every 15 s, and one that was refused never (UI-2)", () => {
  const ticks = [1, 2, 3, 4, 5, 6];
  const due = (state: Parameters<typeof isRefreshDue>[0]) => ticks.filter((n) => isRefreshDue(state, n));
  assert.deepEqual(due("connecting"), ticks);
  assert.deepEqual(due("lost"), ticks);
  assert.deepEqual(due("live"), [3, 6]);
  assert.deepEqual(due("denied"), []);
});
