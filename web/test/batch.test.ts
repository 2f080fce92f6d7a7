import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, Refresher, type Clock } from "../src/lib/batch.ts";

/** FakeClock goes on when it is told to. */
class FakeClock implements Clock {
  time = 0;
  private plans: { at: number; fn: () => void }[] = [];

  now(): number {
    return this.time;
  }

  later(ms: number, fn: () => void): () => void {
    const plan = { at: this.time + ms, fn };
    this.plans.push(plan);
    return () => {
      this.plans = this.plans.filter((p) => p !== plan);
    };
  }

  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      for (let i = 0; i < 8; i++) await Promise.resolve();
      const next = this.plans.filter((p) => p.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.plans = this.plans.filter((p) => p !== next);
      this.time = Math.max(this.time, next.at);
      next.fn();
    }
    this.time = end;
  }
}

test("a batch flushes at most four times a second, and loses nothing", async () => {
  const clock = new FakeClock();
  const seen = new Set<number>();
  let flushes = 0;
  const b = new Batch<number>(
    [60, 190, 250],
    (all) => {
      flushes++;
      for (const n of all) seen.add(n);
    },
    clock,
  );
  for (let i = 0; i < 1000; i++) {
    b.add(i);
    await clock.pass(2);
  }
  await clock.pass(500);
  assert.equal(seen.size, 1000);
  assert.ok(flushes <= 11, `${flushes} flushes in 2.5 seconds`);
  assert.ok(flushes >= 8, `${flushes} flushes in 2.5 seconds`);
});

test("no second has more than four flushes, and what comes by itself is flushed at once", async () => {
  const clock = new FakeClock();
  const times: number[] = [];
  const b = new Batch<number>([60, 190, 250], () => void times.push(clock.time), clock);
  for (let i = 0; i < 3000; i++) {
    b.add(i);
    await clock.pass(1);
  }
  for (const at of times) assert.ok(times.filter((t) => t >= at && t < at + 1000).length <= 4, `the second from ${at} on: ${times.join(" ")}`);
  for (let i = 1; i < times.length; i++) assert.ok((times[i] ?? 0) - (times[i - 1] ?? 0) <= 510, `a pause: ${times.join(" ")}`);
  await clock.pass(5000);
  const rested = clock.time;
  b.add(1);
  await clock.pass(0);
  b.add(2);
  await clock.pass(100);
  assert.deepEqual(times.slice(-2), [rested, rested + 60]);
  // Flushes that are made elsewhere are of the same four.
  await clock.pass(5000);
  const before = times.length;
  for (let i = 0; i < 3; i++) b.count();
  b.add(1);
  b.add(2);
  await clock.pass(200);
  for (let i = 0; i < 2; i++) b.count();
  await clock.pass(700);
  assert.equal(times.length, before);
  await clock.pass(400);
  assert.equal(times.length, before + 1);
});

test("one request is in flight, and what was wanted meanwhile is asked for once", async () => {
  const clock = new FakeClock();
  let asked = 0;
  let inFlight = 0;
  let most = 0;
  const r = new Refresher(
    250,
    async () => {
      asked++;
      most = Math.max(most, ++inFlight);
      await new Promise<void>((done) => clock.later(40, done));
      inFlight--;
    },
    clock,
  );
  for (let i = 0; i < 1000; i++) {
    r.want(30);
    await clock.pass(2);
  }
  await clock.pass(2000);
  assert.equal(most, 1);
  assert.ok(asked >= 4 && asked <= 9, `${asked} requests in 2 seconds`);
  const before = asked;
  await clock.pass(5000);
  assert.equal(asked, before, "nothing is asked for that is not wanted");
  r.want();
  await clock.pass(500);
  assert.equal(asked, before + 1, "the newest is asked for");
});

test("a slow office is asked less often", async () => {
  const clock = new FakeClock();
  let asked = 0;
  const r = new Refresher(
    250,
    async () => {
      asked++;
      await new Promise<void>((done) => clock.later(1000, done));
    },
    clock,
  );
  for (let i = 0; i < 100; i++) {
    r.want();
    await clock.pass(100);
  }
  assert.ok(asked <= 4, `${asked} requests of a second each in 10 seconds`);
});

test("a request that fails is no end", async () => {
  const clock = new FakeClock();
  let asked = 0;
  const r = new Refresher(250, async () => void asked++, clock);
  r.want();
  await clock.pass(300);
  r.want();
  await clock.pass(300);
  assert.equal(asked, 2);
  r.stop();
  r.want();
  await clock.pass(300);
  assert.equal(asked, 2, "it was stopped");
});
