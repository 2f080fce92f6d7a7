import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefreshDue, readStream, sight } from "../src/lib/live.ts";

test("a page without the feed asks every 5 s, one with it every 15 s, and one that was refused never (UI-2)", () => {
  const ticks = [1, 2, 3, 4, 5, 6];
  const due = (state: Parameters<typeof isRefreshDue>[0]) => ticks.filter((n) => isRefreshDue(state, n));
  assert.deepEqual(due("connecting"), ticks);
  assert.deepEqual(due("lost"), ticks);
  assert.deepEqual(due("live"), [3, 6]);
  assert.deepEqual(due("denied"), []);
});

test("a page out of sight holds no connection, whatever it shows, and takes them up when it is seen again", async () => {
  const real = globalThis.fetch;
  let asked = 0;
  let closed = 0;
  globalThis.fetch = ((_url: string, init: RequestInit) => {
    asked++;
    const body = new ReadableStream<Uint8Array>({
      start(c) {
        init.signal?.addEventListener("abort", () => {
          closed++;
          c.error(new Error("aborted"));
        });
      },
    });
    return Promise.resolve(new Response(body, { status: 200 }));
  }) as typeof fetch;
  const stop = new AbortController();
  const read = () => readStream("runs/t1-01.1/transcript?follow=true", {}, stop.signal, () => {}, () => {}).catch(() => {});
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  try {
    const first = [read(), read()];
    await settle();
    assert.deepEqual([asked, closed], [2, 0]);
    sight.leave();
    await Promise.all(first);
    assert.deepEqual([asked, closed], [2, 2]);
    const again = read();
    await settle();
    assert.equal(asked, 2, "nothing is asked while the page is out of sight");
    sight.come();
    await settle();
    assert.equal(asked, 3);
    sight.leave();
    await again;
    const left = read();
    stop.abort();
    await left;
    assert.equal(asked, 3, "one that is given up while it waits asks nothing");
  } finally {
    sight.come();
    stop.abort();
    globalThis.fetch = real;
  }
});
