import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { clock } from "../src/lib/api.ts";
import { awaitedText, failureText, formatAge, formatCost, formatTime, formatTokens, formatUSD, heldSince, logsOf, parseAmount, shortCost, taskState } from "../src/lib/format.ts";
import { placeGraph, placeSpans, ticksOf } from "../src/lib/layout.ts";
import { parseRoute, setQuery } from "../src/lib/router.ts";
import { cutLine, cutText, escapeLine, escapeText, lineSteps, titleOf } from "../src/lib/text.ts";
import type { Awaited, Run, Task, TaskDetail } from "../src/types.ts";

test("routes name a page and an id, and nothing else passes", () => {
  assert.deepEqual(parseRoute("/"), { page: "overview", id: "" });
  assert.deepEqual(parseRoute("/t/t12"), { page: "task", id: "t12" });
  assert.deepEqual(parseRoute("/r/t1-02-merge.1"), { page: "run", id: "t1-02-merge.1" });
  assert.deepEqual(parseRoute("/review/t1-02"), { page: "review", id: "t1-02" });
  assert.deepEqual(parseRoute("/costs/"), { page: "costs", id: "" });
  for (const path of ["/t/", "/t/x", "/t/t1/x", "/r/t1", "/t/..%2f", "/t/t1?x", "/review/<b>", "/costs/1", "//t/t1", "//", "/t//t1", "/t/t1//", "//costs"]) assert.equal(parseRoute(path).page, "unknown", path);
});

test("fields of the address are set and taken away", () => {
  assert.equal(setQuery("?a=1", { b: "x y", a: "" }), "?b=x+y");
  assert.equal(setQuery("?a=1", { a: "" }), "");
});

test("text hides nothing and turns nothing round (T19)", () => {
  assert.equal(escapeText("a\u202eb\u200bc\u0000\u001b[31m"), "a<U+202E>b<U+200B>c<U+0000><U+001B>[31m");
  assert.equal(escapeText("<b>&amp;\tx\r\ny"), "<b>&amp;\tx\ny");
  assert.equal(escapeText("\u{e0041}"), "<U+E0041>");
  assert.equal(escapeText("ä 漢 👍"), "ä 漢 👍");
  assert.equal(escapeLine("a\n\nb\tc"), "a b c");
  assert.equal(titleOf("\n\n## Add it\nmore"), "Add it");
  assert.deepEqual(cutText("ab👍", 3), { text: "ab", left: 2 });
});

test("a line that no browser could draw has its beginning, and what is left of it (T19)", () => {
  const cut = cutLine("evil()\u202e;" + "x".repeat(6_000_000), lineSteps[0]);
  assert.equal(cut.left, 6_000_008 - 4000);
  assert.ok(cut.text.startsWith("evil()<U+202E>;xxx"));
  assert.ok(cut.text.length < 4100);
  assert.deepEqual(cutLine("a < b", lineSteps[0]), { text: "a < b", left: 0 });
  assert.ok(lineSteps.every((n) => n * 8 * "<U+E0041>".length < 2 ** 25)); // all of them escaped, at 8 pixels
});

test("amounts, costs and ages are written as on a terminal", () => {
  assert.equal(formatUSD(2_500_000), "$2.50");
  assert.equal(formatUSD(1234), "$0.001234");
  assert.equal(formatTokens(147_836), "147k tokens");
  assert.equal(formatTokens(2_000_000), "2M tokens");
  assert.equal(formatTokens(1), "1 token");
  assert.equal(formatCost(null, 12), "12 tokens");
  assert.equal(shortCost(null, 0), "-");
  assert.equal(formatAge(61_000), "1m01s");
  assert.equal(formatAge(-5), "0s");
  assert.deepEqual(parseAmount("$2.50"), { micro_usd: 2_500_000 });
  assert.deepEqual(parseAmount("100ktokens"), { tokens: 100_000 });
  for (const bad of ["", "5", "$5usd", "-5usd", "0usd", "5eur"]) assert.equal(parseAmount(bad), null, bad);
  const task = { status: "completed", untested_why: "no tests", ended: "x" } as Task;
  assert.equal(taskState(task).text, "done, UNTESTED");
});

test("a task that begins after others says which it waits for, and for what of them", () => {
  const waits_for = [{ task: "t3", status: "executing" }, { task: "t4", status: "completed", pr: 2, pr_state: "open" }];
  const task = (waits: Awaited[]) => taskState({ status: "waiting", ended: null, waits_for: waits } as unknown as Task).text;
  assert.equal(task(waits_for), "waits for t3, t4");
  assert.equal(task([...waits_for, { task: "t5", status: "failed" }]), "waits for t3 and 2 more");
  assert.deepEqual(waits_for.map(awaitedText), ["working", "#2 is to be merged"]);
  assert.equal(awaitedText({ task: "t4", status: "completed", pr: 2, pr_state: "closed" }), "#2 is closed");
});

test("the graph puts each subtask behind what it comes after", () => {
  const g = placeGraph([
    { id: "a", after: [], wave: 1 },
    { id: "b", after: ["a"], wave: 1 },
    { id: "c", after: ["b", "a"], wave: 1 },
    { id: "d", after: ["gone"], wave: 1 },
  ]);
  assert.deepEqual(g.placed.map((p) => p.column), [0, 1, 2, 0]);
  assert.equal(g.edges.length, 3);
  const waves = placeGraph([
    { id: "a", after: [], wave: 1 },
    { id: "b", after: [], wave: 1 },
    { id: "c", after: [], wave: 2 },
  ]);
  assert.deepEqual(waves.edges, [
    { from: "a", to: "c" },
    { from: "b", to: "c" },
  ]);
  assert.equal(placeGraph([{ id: "a", after: ["a"], wave: 1 }]).placed.length, 1, "a cycle ends");
  assert.equal(placeGraph([]).columns, 0);
});

test("runs that overlap get rows of their own, workers in order of their numbers", () => {
  const s = placeSpans([
    { id: "1", lane: "w10", from: 0, to: 5 },
    { id: "2", lane: "w2", from: 0, to: 5 },
    { id: "3", lane: "w2", from: 3, to: 8 },
    { id: "4", lane: "manager", from: 1, to: 2 },
    { id: "5", lane: "w2", from: 6, to: 7 },
  ]);
  assert.deepEqual(s.rows.map((r) => r.lane), ["manager", "w2", "w2", "w10"]);
  assert.equal(s.rows[1]?.spans.length, 2);
  assert.deepEqual([s.from, s.to], [0, 8]);
  assert.deepEqual(ticksOf(10), [0, 5, 10]);
});

test("the page hides no character that the terminal shows by its number (UI-1)", () => {
  const ranges = readFileSync("../internal/lib/safetext/testdata/hidden.txt", "utf8").trim().split("\n");
  assert.ok(ranges.length > 15);
  const hidden = new Set<number>();
  for (const range of ranges) {
    const [first, last] = range.split("-").map((n) => parseInt(n, 16));
    for (let c = first ?? 0; c <= (last ?? 0); c++) hidden.add(c);
  }
  for (let c = 0; c <= 0x10ffff; c++) {
    const text = "a" + String.fromCodePoint(c);
    if (c < 0xd800 || c > 0xdfff) assert.equal(escapeText(text) !== text, hidden.has(c), c.toString(16));
  }
});

test("a time has its date where the office has another day, whatever the browser's clock says", () => {
  const noon = new Date();
  noon.setHours(12, 0, 0, 0);
  try {
    for (const hours of [-30, 0, 30]) {
      clock.ahead = noon.getTime() + hours * 3_600_000 - Date.now();
      const now = clock.now();
      assert.ok(/^\d\d:\d\d:\d\d$/.test(formatTime(now)), `${hours} h ahead`);
      assert.ok(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(formatTime(now - 25 * 3_600_000)), `${hours} h ahead`);
    }
  } finally {
    clock.ahead = 0;
  }
});

test("a run that was taken up again has the time of its earlier holders; one that was let go has no clock", () => {
  const run = { id: "t1-01.1", status: "running", claimed: "2026-11-22T10:00:30Z", ended: null, earlier_ms: 20_000 } as Run;
  assert.equal(heldSince(run), Date.parse("2026-11-22T10:00:10Z"));
  assert.equal(heldSince({ ...run, status: "offered" }), null);
  assert.equal(heldSince({ ...run, ended: "2026-11-22T10:01:00Z", status: "success" }), null);
});

test("a failed decision is not a failed plan, and an error may name logs", () => {
  const t = (status: string) => ({ status }) as TaskDetail;
  assert.equal(failureText(t("decomposing"), "plan", { attempt: 1 }), "plan failed 1 time");
  assert.equal(failureText(t("executing"), "plan", { attempt: 5, code: "E_MODEL_AWAY" }), "the manager could not be asked, tried 5 times");
  assert.equal(failureText(t("executing"), "plan", { attempt: 2, code: "E_GIT" }), "the manager's decision failed 2 times");
  assert.equal(logsOf("it repeats itself (company logs t3-plan.2)"), "t3-plan.2");
  assert.equal(logsOf("it repeats itself"), "");
});
