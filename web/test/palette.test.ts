import assert from "node:assert/strict";
import { test } from "node:test";
import { findItems, listItems, placeOfID } from "../src/lib/palette.ts";
import { groupQuestions } from "../src/lib/several.ts";
import type { Approval, Option, Overview, Task } from "../src/types.ts";

const option = (name: string, input?: Option["input"]): Option => ({ name, means: "", input });
const question = (id: string, kind: string, options: Option[]): Approval => ({ id, kind, question: "which?", task: "t1", options }) as unknown as Approval;

test("the palette finds what waits, pages, tasks and what an id names", () => {
  const o = { needs_you: [question("a2", "plan", [])], open_prs: [{ number: 4, task: "t1", title: "Add limits" }], running: [{ id: "t2-01.1", role: "worker" }] } as unknown as Overview;
  const items = listItems(o, [{ id: "t1", instruction: "# Add limits" }, { id: "t12", instruction: "other" }] as Task[]);
  assert.equal(items[0]?.to, "/inbox?q=a2");
  assert.equal(findItems(items, "costs")[0]?.to, "/costs");
  assert.equal(findItems(items, "t1")[0]?.to, "/t/t1"); // before t12
  assert.equal(findItems(items, "limits pull")[0]?.to, "/prs?pr=t1");
  assert.equal(findItems(items, "t2-01.1")[0]?.to, "/r/t2-01.1");
  assert.deepEqual(findItems(items, "t3-02").map((it) => it.to), ["/t/t3?s=t3-02"]);
  assert.deepEqual(findItems(items, "nothing like it"), []);
  for (const [id, to] of [["t7", "/t/t7"], ["T7-01.2", "/r/t7-01.2"], ["t7-02", "/t/t7?s=t7-02"], ["x", ""], ["t7/../x", ""], ["javascript:1", ""]] as const) assert.equal(placeOfID(id), to, id);
});

test("questions of one kind with the same options are answered together", () => {
  const [yes, no] = [option("approve"), option("reject", "words")];
  const groups = groupQuestions([question("a1", "merge", [yes, no]), question("a2", "plan", [yes, no]), question("a3", "merge", [yes, no]), question("a4", "merge", [yes])]);
  assert.deepEqual(groups.map((g) => g.questions.map((q) => q.id)), [["a1", "a3"]]);
  assert.deepEqual(groupQuestions([]), []);
});
