import assert from "node:assert/strict";
import { test } from "node:test";
import { addOutput } from "../src/lib/outputs.ts";
import type { LiveOutput, TranscriptEntry } from "../src/types.ts";

const out = (id: string, ...lines: string[]): TranscriptEntry => ({ output: { id, name: "run_command", about: "make", since: "2026-01-01T00:00:00Z", lines } });
const result = (id: string): TranscriptEntry => ({ toolCall: { id, name: "run_command", arguments: "", result: "", timestamp: "", durationMs: 1 } });

test("the newest output of each call under way is shown, and none of one that is over", () => {
  let outputs: LiveOutput[] = [];
  const shown = () => outputs.map((o) => o.id + ":" + (o.lines ?? []).join(","));
  for (const [entry, want] of [
    [out("1", "a"), ["1:a"]],
    [out("2", "b"), ["1:a", "2:b"]],
    [out("1", "c", "d"), ["1:c,d", "2:b"]],
    [out("1"), ["2:b"]],
    [out("3"), ["2:b"]],
    [{ output: { id: "2", name: "", about: "", since: "", lines: null } }, []],
    [out("4", "e"), ["4:e"]],
    [result("5"), ["4:e"]],
    [result("4"), []],
  ] as [TranscriptEntry, string[]][]) {
    const before = outputs;
    const copy = [...before];
    outputs = addOutput(outputs, entry);
    assert.deepEqual(shown(), want);
    assert.deepEqual(before, copy); // what is drawn does not change under the page
  }
  const same = outputs;
  assert.equal(addOutput(same, { message: { role: "user", content: "x", timestamp: "" } }), same);
});
