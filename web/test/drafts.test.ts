import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, keepDraft, readComments, readDraft, writeComments } from "../src/lib/drafts.ts";

function storeOf(most: number): Map<string, string> {
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    sessionStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      removeItem: (key: string) => kept.delete(key),
      setItem: (key: string, text: string) => {
        if (text.length > most) throw new Error("QuotaExceededError");
        kept.set(key, text);
      },
    },
  });
  return kept;
}

test("what was typed is there again until it is sent", () => {
  const kept = storeOf(100);
  assert.equal(readDraft(draftOf.words("a1")), "");
  keepDraft(draftOf.words("a1"), "lower case");
  keepDraft(draftOf.words("a2"), "another");
  assert.equal(readDraft(draftOf.words("a1")), "lower case");
  keepDraft(draftOf.words("a1"), "");
  assert.equal(readDraft(draftOf.words("a1")), "");
  assert.deepEqual([...kept.values()], ["another"]);
});

test("a text that the browser does not store is kept until the page is loaded again", () => {
  storeOf(3);
  keepDraft(draftOf.instruction(""), "a longer one");
  assert.equal(readDraft(draftOf.instruction("")), "a longer one");
  keepDraft(draftOf.instruction(""), "");
  assert.equal(readDraft(draftOf.instruction("")), "");
});

test("comments at lines are kept by their place, whatever the store holds", () => {
  const all = new Map([["a.go:1", "why?"], ["b:c.go:20", '"no"']]);
  assert.deepEqual(readComments(writeComments(all)), all);
  assert.equal(writeComments(new Map()), "");
  for (const text of ["", "{", "7", "[1]"]) assert.equal(readComments(text).size, 0);
});
