import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bounds, describeAttachment, encodeBase64, isShownImage, readFiles, readPicture, type Part } from "../src/lib/attach.ts";

const part = (name: string, content: Uint8Array | string, size?: number): Part => {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { name, size: size ?? bytes.length, arrayBuffer: async () => bytes.slice().buffer as ArrayBuffer };
};
const png = (size: number) => {
  const content = new Uint8Array(size);
  content.set([0x89, 0x50, 0x4e, 0x47]);
  return content;
};

test("the bounds of files are the office's", () => {
  const source = readFileSync("../internal/company/attachment.go", "utf8").replace(/ +/g, " ");
  for (const line of ["MaxAttachments = 10\n", "MaxAttachedText = 256 << 10\n", "MaxAttachedImage = 5 << 20 / 4 * 3\n", "MaxAttachedBytes = 16 << 20\n"]) assert.ok(source.includes(line), line);
  assert.deepEqual(bounds, { files: 10, text: 262_144, image: 3_932_160, all: 16_777_216 });
});

test("what a file is told to be makes no difference, and what is not taken is told", async () => {
  const refusals: [Part, string][] = [
    [part("empty.txt", ""), "the file is empty"],
    [part("long.txt", "a".repeat(bounds.text + 1)), "the text has 256.01 KiB, and may have 256 KiB"],
    [part("shot.png", new Uint8Array([0xde, 0xad, 0xbe, 0xef])), "it is neither UTF-8 text nor"],
    [part("nul.txt", "a\0b"), "it is neither UTF-8 text nor"],
    [part("film.mp4", "", bounds.image + 1), "it has 3.76 MiB, and no file may have more than 3.75 MiB"],
    [{ name: "folder", size: 4096, arrayBuffer: () => Promise.reject(new Error("a folder")) }, "the browser cannot read it"],
  ];
  for (const [refused, why] of refusals) {
    const got = await readFiles([refused, part("spec.md", "übermäßig"), part("shot.txt", png(bounds.text + 1))], []);
    assert.deepEqual(got.chosen.map((c) => c.name), ["spec.md", "shot.txt"], refused.name);
    assert.equal(got.problem?.title, refused.name + " is not attached");
    assert.ok(got.problem?.detail?.startsWith(why), got.problem?.detail);
    assert.ok(got.problem?.hint);
  }
});

test("files are taken up to their number and to their size together", async () => {
  const texts = Array.from({ length: 11 }, (_, i) => part(`${i}.txt`, "a"));
  const many = await readFiles(texts, []);
  assert.equal(many.chosen.length, 10);
  assert.equal(new Set(many.chosen.map((c) => c.id)).size, 10);
  assert.equal(many.problem?.title, "10.txt is not attached");
  const before = await readFiles(Array.from({ length: 4 }, () => part("a.png", png(bounds.image))), []);
  assert.equal(before.problem, null);
  const over = await readFiles([part("b.png", png(bounds.image)), part("c.txt", "c")], before.chosen);
  assert.deepEqual(over.chosen.map((c) => c.name), ["a.png", "a.png", "a.png", "a.png", "c.txt"]);
  assert.equal(over.problem?.detail, "together they may have 16 MiB: they go with each request to a model");
});

test("contents travel as base64, however large", () => {
  const content = Uint8Array.from({ length: 100_001 }, (_, i) => i % 256);
  assert.deepEqual(Uint8Array.from(atob(encodeBase64(content)), (c) => c.charCodeAt(0)), content);
  assert.equal(describeAttachment({ name: "a", type: "image/png", bytes: 34_500, width: 800, height: 600 }), "PNG image, 800x600, 33.7 KiB");
  assert.equal(describeAttachment({ name: "a", type: "text/plain", bytes: 1 }), "text, 1 byte");
});

test("an attached image is drawn as one of the office's types, whatever its name and the answer say", async () => {
  const image = (name: string, type: string) => ({ name, type, bytes: 3, width: 1, height: 1 });
  assert.deepEqual(["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml", "text/html", "text/plain", ""].map((t) => isShownImage(image("a", t))), [true, true, true, true, false, false, false, false]);
  const real = globalThis.fetch;
  const asked: string[] = [];
  globalThis.fetch = ((url: string) => {
    asked.push(url);
    return Promise.resolve(new Response(new Uint8Array([1, 2, 3]), { headers: { "Content-Type": "text/html" } }));
  }) as typeof fetch;
  try {
    const picture = await readPicture("t1", image("a&b #1?.png", "image/png"), new AbortController().signal);
    assert.deepEqual([picture.type, picture.size], ["image/png", 3]);
    assert.equal((await readPicture("t1", image("a", "image/svg+xml"), new AbortController().signal)).type, "application/octet-stream");
    assert.equal(asked[0], "/api/v1/tasks/t1/attachment?name=a%26b%20%231%3F.png");
  } finally {
    globalThis.fetch = real;
  }
});
