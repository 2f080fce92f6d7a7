import assert from "node:assert/strict";
import { test } from "node:test";
import { countWaiting, pullCommands } from "../src/lib/pulls.ts";
import type { Approval, PullRequest } from "../src/types.ts";

test("a pull request that waits has commands, one that ended none", () => {
  const pull = { number: 1, task: "t3", state: "open" } as PullRequest;
  assert.deepEqual(pullCommands(pull).map((c) => c.command), ["company pr checkout t3", "company pr merge t3"]);
  assert.deepEqual(pullCommands({ ...pull, branch_change: { kind: "gone" } }).map((c) => c.command), ["company pr merge t3"]);
  for (const state of ["merged", "closed"]) assert.deepEqual(pullCommands({ ...pull, state }), []);
});

test("questions and open pull requests wait for the president", () => {
  const [pull, question] = [{} as PullRequest, {} as Approval];
  assert.equal(countWaiting(undefined), 0);
  assert.equal(countWaiting({ needs_you: [], open_prs: [] }), 0);
  assert.equal(countWaiting({ needs_you: [question], open_prs: [pull, pull] }), 3);
});
