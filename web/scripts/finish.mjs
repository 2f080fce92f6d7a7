// Writes dist/BUILD: the hash of all sources, and of each built file. internal/page has a
// test that computes both without Node: built files that do not fit their sources fail it.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(web, "..", "internal", "page", "dist");

function listFiles(root) {
  const out = [];
  (function walk(dir) {
    for (const e of readdirSync(dir, { withFileTypes: true })) {
      if (e.name === "node_modules") continue;
      const path = join(dir, e.name);
      if (e.isDirectory()) walk(path);
      else out.push(relative(root, path).split(sep).join("/"));
    }
  })(root);
  return out.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");
const lines = (root, skip) => listFiles(root).filter((p) => p !== skip).map((p) => `${hash(readFileSync(join(root, p)))}  ${p}\n`).join("");

writeFileSync(join(dist, "BUILD"), `${hash(lines(web))}  sources\n${lines(dist, "BUILD")}`);
