// Writes dist/licenses.txt: the licenses of the packages that are in the built files, as
// they ask for. Then dist/BUILD: the hash of all sources, and of each built file. internal/api/page has a
// test that computes both without Node: built files that do not fit their sources fail it.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(web, "..", "internal", "api", "page", "dist");

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

const used = new Set();
(function follow(names) {
  for (const name of names) {
    if (used.has(name)) continue;
    used.add(name);
    follow(Object.keys(JSON.parse(readFileSync(join(web, "node_modules", name, "package.json"), "utf8")).dependencies ?? {}).filter((n) => !n.startsWith("@types/")));
  }
})(Object.keys(JSON.parse(readFileSync(join(web, "package.json"), "utf8")).dependencies));
const texts = [...used].sort().map((name) => {
  const dir = join(web, "node_modules", name);
  const file = readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
  const { version, license } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(dir, file), "utf8").trim() : ""}\n`;
});
writeFileSync(join(dist, "licenses.txt"), texts.join("\n----\n\n"));

writeFileSync(join(dist, "BUILD"), `${hash(lines(web))}  sources\n${lines(dist, "BUILD")}`);
