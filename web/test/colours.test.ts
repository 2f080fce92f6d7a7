import assert from "node:assert/strict";
import { test } from "node:test";
import { colourFile, type Piece } from "../src/lib/colours.ts";
import { parseDiff } from "../src/lib/diff.ts";
import { languageOf } from "../src/lib/languages.ts";

const diffOf = (path: string, lines: string[]) => parseDiff(`diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,${lines.filter((l) => l[0] !== "+").length} +1,${lines.filter((l) => l[0] !== "-").length} @@\n${lines.join("\n")}\n`);

const toneOf = (pieces: Piece[] | undefined, text: string): string | undefined => pieces?.find((p) => p.text.includes(text))?.tone;

test("lines of a diff have the colours of their language, each side with its own lines", () => {
  const [file] = diffOf("a.go", [" package a", "-func old() int { return 1 } // before", '+func fresh() string { return "x" }', " /* open", "+inside */ var n = 2"]);
  assert.ok(file);
  if (!file) return;
  const colours = colourFile(file);
  const lines = file.hunks[0]?.lines ?? [];
  assert.equal(toneOf(colours.get(lines[0]!), "package"), "keyword");
  assert.equal(toneOf(colours.get(lines[1]!), "// before"), "comment");
  assert.equal(toneOf(colours.get(lines[2]!), '"x"'), "string");
  assert.equal(toneOf(colours.get(lines[4]!), "inside"), "comment");
  assert.equal(toneOf(colours.get(lines[4]!), "2"), "number");
});

test("colours change no character, whatever the text is (T19)", () => {
  const texts = ["<img src=x onerror=pwned=1> </script><script>pwned=2</script>", "`${a + `${b}`}` 'x", "\u202egnp.exe\u202c <a href='javascript:1'>", "{% # \\ \"\"\" '''", "", "\tindented", "[x](javascript:y) **b**"];
  for (const path of ["a.ts", "a.py", "a.html", "a.md", "a.yaml", "a.sh", "Makefile", "Dockerfile", "a.php", "a.rs", "a.css", "a.sql", "a.json", "a.toml", "a.vue"]) {
    const [file] = diffOf(path, [...texts.map((t) => "-" + t), ...texts.map((t) => "+" + t)]);
    assert.ok(file && languageOf(path), path);
    if (!file) continue;
    const colours = colourFile(file);
    for (const l of file.hunks[0]?.lines ?? []) assert.equal((colours.get(l) ?? []).map((p) => p.text).join(""), l.text, path);
    assert.ok(colours.size > 0, path);
  }
});

test("what is of no known language, or very long, has no colours", () => {
  for (const path of ["LICENSE", "a.constructor", "constructor", "a.unknown"]) assert.equal(languageOf(path), "", path);
  const [long] = diffOf("a.go", ["+var x = " + "1+".repeat(5000)]);
  assert.equal(long ? colourFile(long).size : -1, 0);
  const [many] = diffOf("a.go", Array.from({ length: 4000 }, (_, i) => `+var x${i} = 1`));
  assert.equal(many ? colourFile(many).size : -1, 0);
});
