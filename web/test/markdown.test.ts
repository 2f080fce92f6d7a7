import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { hostBehind, isWebAddress, parseInline, parseMarkdown, type Block, type Inline } from "../src/lib/markdown.ts";

const wordsOf = (parts: Inline[]): string => parts.map((p) => ("text" in p ? p.text : wordsOf(p.parts))).join("");

const textOf = (blocks: Block[]): string =>
  blocks
    .map((b): string => {
      switch (b.kind) {
        case "heading":
        case "paragraph":
          return wordsOf(b.parts);
        case "code":
          return b.text;
        case "quote":
          return textOf(b.blocks);
        case "list":
          return b.items.map((item, i) => (b.first === null ? "" : `${b.first + i}. `) + textOf(item)).join("\n");
        case "table":
          return [b.head, ...b.rows].map((row) => row.map(wordsOf).join(" ")).join("\n");
        case "details":
          return wordsOf(b.summary) + "\n" + textOf(b.blocks);
        case "rule":
          return "";
      }
    })
    .join("\n");

const linksOf = (parts: Inline[]): string[] => parts.flatMap((p) => (p.kind === "link" ? [p.url, ...linksOf(p.parts)] : "parts" in p ? linksOf(p.parts) : []));

test("Markdown is read into blocks", () => {
  const blocks = parseMarkdown("# A **b**\n\ntwo\nlines\n\n> q\n> - x\n>   - y\n\n- one\n  more\n- two\n\n3. three\n\n```go\n# no heading\n```\n\n---\n");
  assert.deepEqual(
    blocks.map((b) => b.kind),
    ["heading", "paragraph", "quote", "list", "list", "code", "rule"],
  );
  assert.equal(textOf(blocks), "A b\ntwo\nlines\nq\nx\ny\none\nmore\ntwo\n3. three\n# no heading\n");
  const details = parseMarkdown("<details><summary>Plan</summary>\n\n```\n</details>\n```\n- a\n\n</details>\n\nafter");
  assert.deepEqual(
    details.map((b) => b.kind),
    ["details", "paragraph"],
  );
  assert.equal(textOf(details), "Plan\n</details>\na\nafter");
});

test("a table has its cells, bars behind a backslash included", () => {
  const [table] = parseMarkdown("| gate | command |\n|---|---|\n| test | `a \\| b` |\n| lint |\n");
  assert.ok(table?.kind === "table");
  if (table?.kind !== "table") return;
  assert.deepEqual(table.head.map(wordsOf), ["gate", "command"]);
  assert.deepEqual(table.rows.map((r) => r.map(wordsOf)), [
    ["test", "a | b"],
    ["lint"],
  ]);
});

test("HTML stays text, and links lead to the web alone (T19)", () => {
  const hostile = `<img src=x onerror=pwned=1> <script>pwned=2</script> [x](javascript:pwned=3) ![x](http://tracker.example/a.png) [y](data:text/html,z) [z](//evil.example) <a href="javascript:1">a</a>`;
  const blocks = parseMarkdown(hostile);
  assert.equal(blocks.length, 1);
  const parts = blocks[0]?.kind === "paragraph" ? blocks[0].parts : [];
  assert.deepEqual(linksOf(parts), ["http://tracker.example/a.png"]); // asked for by a click alone
  assert.equal(wordsOf(parts), hostile.replace("[x](http://tracker.example/a.png)", "x"));
  for (const bad of ["javascript:1", "http://user:pass@example.com/", "https://\u202eexample.com", "http://", "mailto:a@b", "/api/v1/commands", "vbscript:x"]) assert.ok(!isWebAddress(bad), bad);
  assert.ok(isWebAddress("https://example.com/a?b=c#d"));
});

test("a link whose words are not its address says where it leads (T19)", () => {
  const hostOf = (text: string): string => {
    const [link] = parseInline(text);
    return link?.kind === "link" ? hostBehind(link.url, link.parts) : "no link";
  };
  for (const [text, host] of [
    ["https://example.com/a", ""],
    ["[https://example.com/a](https://example.com/a)", ""],
    ["[https://github.com/a](https://evil.example/a)", "evil.example"],
    ["[https://evil.example.github.com/](https://evil.example/)", "evil.example"],
    ["[build](https://ci.example:8080/1)", "ci.example:8080"],
    ["[`https://ci.example/`](https://ci.example/)", "ci.example"],
    ["https://g\u0456thub.com/a", "xn--gthub-n2e.com"],
  ] as const) assert.equal(hostOf(text), host, text);
});

test("rows under a wide head have the cells that stand in them, and all of these", () => {
  const count = (rows: number): number => {
    const [table] = parseMarkdown("|a".repeat(500) + "\n|-|\n" + "|\n".repeat(rows) + "|b|c|\n");
    return table?.kind === "table" ? table.rows.reduce((n, r) => n + r.length, 0) : -1;
  };
  assert.equal(count(100), count(1)); // 500 for each row, where the head filled them
  const [table] = parseMarkdown("|a|\n|-|\n|b|c|\n");
  assert.ok(table?.kind === "table" && wordsOf(table.rows[0]?.[1] ?? []) === "c");
});

test("what stands in a line is read", () => {
  assert.deepEqual(parseInline("a **b** `c**d**` \\*e\\* &lt;f&gt;&amp;lt; *g*"), [
    { kind: "text", text: "a " },
    { kind: "strong", parts: [{ kind: "text", text: "b" }] },
    { kind: "text", text: " " },
    { kind: "code", text: "c**d**" },
    { kind: "text", text: " *e* <f>&lt; " },
    { kind: "em", parts: [{ kind: "text", text: "g" }] },
  ]);
  assert.deepEqual(linksOf(parseInline("see https://example.com/a, [b](https://example.com/b) and (https://example.com/c).")), ["https://example.com/a", "https://example.com/b", "https://example.com/c"]);
  for (const text of ["src/**/*.go", "a * b * c", "2 ** 3", "__init__.py", "a `b", "[x]", "**", "**open"]) assert.equal(wordsOf(parseInline(text)), text);
  assert.equal(wordsOf(parseInline("`` a`b ``")), "a`b");
});

test("nothing of the company's own text is lost", () => {
  const dir = "../internal/delivery/prbody/testdata/";
  const names = readdirSync(dir).filter((n) => n.endsWith(".md"));
  assert.ok(names.length > 5);
  const bare = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  for (const name of names) {
    const text = readFileSync(dir + name, "utf8");
    const own = text
      .replaceAll("\u200b", "")
      .replace(/<!--.*-->|<\/?(?:details|summary)>|^ *(?:> ?)*```\w*$|^\|[-|:]+\|$/gm, "")
      .replace(/\]\(https?:[^)]*\)/g, "]")
      .replace(/&(lt|gt|amp);/g, " ");
    const shown = textOf(parseMarkdown(text));
    assert.equal(bare(shown), bare(own), name);
    assert.ok(!/^<\/?(?:details|summary)>|^\|/m.test(shown), name);
  }
});

test("text made to be slow or deep is read to its end", () => {
  const made = [
    "`".repeat(200) + "`` ` ".repeat(40_000), "(**a ".repeat(40_000), "(*a ".repeat(40_000), "[".repeat(200_000), "[a](http://b".repeat(15_000), "http://@".repeat(25_000),
    "http://" + ".".repeat(100_000) + "end", "#" + " ".repeat(100_000) + "x\u2028end", "<details><summary>" + " ".repeat(200_000) + "end", "|" + " ".repeat(200_000) + "\n|" + " ".repeat(200_000) + "end",
    "> ".repeat(100_000) + "end", "- ".repeat(100_000) + "end", "&".repeat(200_000), "\\".repeat(200_000),
  ];
  for (const text of made) assert.ok(textOf(parseMarkdown(text + " end")).includes("end"), text.slice(0, 20)); // minutes, where it were not linear
});
