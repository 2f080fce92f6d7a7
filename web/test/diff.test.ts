import assert from "node:assert/strict";
import { test } from "node:test";
import { diffOfEdit, drawnLines, foldFiles, pairLines, parseDiff, placeFindings, unquote } from "../src/lib/diff.ts";
import { digestOf } from "../src/lib/seen.ts";
import type { Finding } from "../src/types.ts";

const patch = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,4 +1,5 @@ package a
 one
--- not a head
+++ not one either
+new
 four
\\ No newline at end of file
@@ -20 +21 @@
-x
+y
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
diff --git a/pic.png b/pic.png
new file mode 100644
Binary files /dev/null and b/pic.png differ
diff --git "a/\\303\\244 b.txt" "b/\\303\\244 b.txt"
deleted file mode 100644
--- "a/\\303\\244 b.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

test("a diff of git is read into files, hunks and lines", () => {
  const files = parseDiff(patch);
  assert.deepEqual(
    files.map((f) => [f.path, f.action, f.added, f.removed, f.binary, f.hunks.length]),
    [
      ["a.go", "modified", 3, 2, false, 2],
      ["new name.txt", "renamed", 0, 0, false, 0],
      ["pic.png", "created", 0, 0, true, 0],
      ["ä b.txt", "deleted", 0, 1, false, 1],
    ],
  );
  assert.deepEqual(files[0]?.hunks[0]?.lines.map((l) => [l.kind, l.old, l.new, l.text]), [
    ["same", 1, 1, "one"],
    ["del", 2, null, "-- not a head"],
    ["add", null, 2, "++ not one either"],
    ["add", null, 3, "new"],
    ["same", 3, 4, "four"],
    ["note", null, null, "No newline at end of file"],
  ]);
  assert.equal(files[1]?.oldPath, "old name.txt");
});

test("nothing and nonsense are no files", () => {
  assert.deepEqual(parseDiff(""), []);
  assert.deepEqual(parseDiff("@@ -1 +1 @@\n+a\nhello\n"), []);
  assert.equal(parseDiff("diff --git a/x b/x\n@@ -1,9 +1,9 @@\n+cut").length, 1);
});

test("quoted paths of git are read", () => {
  assert.equal(unquote('"a\\tb\\"c"'), 'a\tb"c');
  assert.equal(unquote("plain"), "plain");
});

test("side by side what was removed stands beside what came in its place", () => {
  const [file] = parseDiff("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,5 +1,4 @@\n one\n-two\n-three\n+TWO\n four\n+five\n-six\n\\ No newline at end of file\n");
  const pairs = pairLines(file?.hunks[0]?.lines ?? []);
  assert.deepEqual(
    pairs.map((p) => [p.left?.text ?? null, p.right?.text ?? null]),
    [["one", "one"], ["two", "TWO"], ["three", null], ["four", "four"], [null, "five"], ["six", null], ["No newline at end of file", null]],
  );
});

test("a file that changes again is another change of it", () => {
  const of = (lines: string) => digestOf(parseDiff(`diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n${lines}\n`)[0]!);
  assert.equal(of("-a\n+b"), of("-a\n+b"));
  assert.ok(of("-a\n+b") !== of("-a\n+c"));
  assert.ok(of("-a\n+b") !== of("+b\n-a"));
});

test("findings stand at their lines, the others apart", () => {
  const finding = (file: string, line: number): Finding => ({ severity: "minor", file, line, what: "w", why: "" });
  const { at, apart } = placeFindings(parseDiff(patch), [finding("a.go", 3), finding("a.go", 3), finding("a.go", 21), finding("a.go", 9), finding("b.go", 1), finding("", 0)]);
  assert.equal(at.get("a.go:3")?.length, 2);
  assert.equal(at.get("a.go:21")?.length, 1);
  assert.equal(apart.length, 3);
});

test("an edit is what went and what came, between lines that stay", () => {
  assert.deepEqual(
    diffOfEdit("a\nb\nc", "a\nB\nc").map((l) => l.kind + l.text),
    ["samea", "delb", "addB", "samec"],
  );
  const all = (before: string, after: string): string[] => diffOfEdit(before, after).map((l) => l.kind + l.text);
  assert.deepEqual(all("", "x\ny"), ["addx", "addy"]);
  assert.deepEqual(all("", "x\n"), ["addx"]);
  assert.deepEqual(all("", "x\n\n"), ["addx", "add"]);
  assert.deepEqual(all("a\nb\n", "a\nc\n"), ["samea", "delb", "addc"]);
  assert.deepEqual(all("a\n", "a"), ["samea", "del"]); // the line break at the end was taken away
});

test("files are folded behind the lines that a browser draws quickly, unchanged ones too", () => {
  const file = (path: string, same: number, added: number): string =>
    `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,${same} +1,${same + added} @@\n${" same\n".repeat(same)}${"+new\n".repeat(added)}`;
  const open = (text: string) => {
    const files = parseDiff(text);
    const folded = foldFiles(files);
    const shown = files.filter((f) => !folded.has(f.path));
    return { files: shown.length, lines: shown.reduce((n, f) => n + Math.min(drawnLines, f.hunks.reduce((m, h) => m + h.lines.length, 0)), 0) };
  };
  const many = (n: number, same: number) => Array.from({ length: n }, (_, i) => file(`f${i}`, same, 1)).join("");
  assert.deepEqual(open(many(20, 6)), { files: 20, lines: 140 });
  const whole = open(many(300, 999)); // 300 files, each whole: 300,000 lines
  assert.ok(whole.lines <= 1500 && whole.files >= 1, `${whole.lines} lines are drawn at once`);
  assert.equal(open(file("one", 200_000, 1)).files, 1, "a file alone is open, and draws its beginning");
  assert.equal(open(file("long", 3, 401)).files, 0);
});
