import assert from "node:assert/strict";
import { test } from "node:test";
import { EntryList } from "../src/lib/entries.ts";
import type { TranscriptEntry } from "../src/types.ts";

const call = (n: number, result: string): TranscriptEntry => ({ toolCall: { id: `c${n}`, name: "run", arguments: "", result, isError: false, durationMs: 0, timestamp: "" } }) as unknown as TranscriptEntry;

test("of a long conversation the newest entries are kept, and those before are counted", () => {
  const list = new EntryList({ entries: 100, text: 1e9 });
  for (let i = 0; i < 1000; i++) {
    list.add(call(i, "x"));
    assert.ok(list.entries.length <= 100);
    assert.equal(list.entries.length + list.dropped, i + 1);
  }
  assert.equal(list.entries.at(-1)?.toolCall?.id, "c999");
});

test("results of megabytes are bounded by their length, whatever their number", () => {
  const list = new EntryList({ entries: 5000, text: 10_000 });
  for (let i = 0; i < 500; i++) {
    list.add(call(i, "x".repeat(900)));
    const held = list.entries.reduce((n, e) => n + (e.toolCall?.result.length ?? 0), 0);
    assert.ok(held <= 10_000, `${held} characters are kept`);
    assert.equal(list.entries.length + list.dropped, i + 1);
  }
  list.add(call(500, "y".repeat(50_000)));
  assert.deepEqual([list.entries.length, list.dropped], [1, 500], "the newest one stays, however long it is");
  list.add(call(501, "z"));
  assert.equal(list.entries.at(-1)?.toolCall?.id, "c501");
});
