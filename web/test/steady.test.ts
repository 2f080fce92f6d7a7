import assert from "node:assert/strict";
import { test } from "node:test";
import { isSettled, keepPlace, settleTime, type Kept, type Place } from "../src/lib/steady.ts";

const place = (change: Partial<Place> = {}): Place => ({ x: 10, y: 100, pageX: 10, pageY: 500, name: "Approve\napprove-a1", ...change });

test("a button that lies still can be pressed, one that has just come cannot", () => {
  const first = keepPlace(undefined, place(), 1000);
  assert.equal(isSettled(first, 1000), false);
  assert.equal(isSettled(first, 1000 + settleTime), true);
  assert.equal(isSettled(keepPlace(first, place(), 5000), 5000), true);
  assert.equal(isSettled(keepPlace(first, place({ x: 11, y: 101, pageX: 11, pageY: 501 }), 5000), 5000), true);
});

test("a button that late data moves, or that another one replaces, settles again", () => {
  const first = keepPlace(undefined, place(), 1000);
  for (const change of [
    { y: 140, pageY: 540 }, // a line came above it
    { x: 90, pageX: 90 }, // a button came before it
    { name: "Request changes\nrequest-changes" }, // another button of the same element
    { name: "Approve\napprove-a2" }, // of another question
  ]) {
    const moved = keepPlace(first, place(change), 5000);
    assert.equal(isSettled(moved, 5000), false, JSON.stringify(change));
    assert.equal(isSettled(moved, 5000 + settleTime), true);
  }
});

test("a scroll is the reader's own, and what the browser makes up for did not move", () => {
  const first = keepPlace(undefined, place(), 1000);
  const scrolled = keepPlace(first, place({ y: -200 }), 5000);
  assert.equal(isSettled(scrolled, 5000), true);
  assert.equal(isSettled(keepPlace(scrolled, place({ y: 100, pageY: 800 }), 6000), 6000), false);
  assert.equal(isSettled(keepPlace(first, place({ pageY: 900 }), 5000), 5000), true); // inserted above, and scrolled along
});

test("a button that creeps settles no more than one that jumps", () => {
  let kept: Kept = keepPlace(undefined, place(), 0);
  let settled = 0;
  for (let i = 1; i <= 20; i++) {
    const next = keepPlace(kept, place({ y: 100 + 2 * i, pageY: 500 + 2 * i }), i * 1000);
    if (next.since === i * 1000) settled++;
    kept = next;
  }
  assert.equal(settled, 10);
});
