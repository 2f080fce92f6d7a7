import assert from "node:assert/strict";
import { test } from "node:test";
import { groupQuestions } from "../src/lib/several.ts";
import type { Approval } from "../src/types.ts";

const ask = (id: string, kind: string, ...options: string[]): Approval => ({ id, kind, options: options.map((name) => ({ name, means: "" })) }) as unknown as Approval;

test("questions of one kind with other options are another group, under a key of its own", () => {
  const groups = groupQuestions([ask("a1", "merge", "approve", "reject"), ask("a2", "merge", "approve", "reject", "retry"), ask("a3", "merge", "approve", "reject"), ask("a4", "merge", "approve", "reject", "retry"), ask("a5", "plan", "approve")]);
  assert.deepEqual(groups.map((g) => g.questions.map((q) => q.id)), [["a1", "a3"], ["a2", "a4"]]);
  assert.equal(new Set(groups.map((g) => g.key)).size, 2);
});
