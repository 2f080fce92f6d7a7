// Runs the tests of web/test under Node's own runner. Vite takes the types away first.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = mkdtempSync(join(tmpdir(), "company-page-test-"));
try {
  const tests = readdirSync(join(web, "test")).filter((f) => f.endsWith(".test.ts"));
  await build({ root: web, configFile: false, logLevel: "warn", ssr: { noExternal: true }, build: { ssr: true, outDir: out, emptyOutDir: false, minify: false, rollupOptions: { input: tests.map((f) => join(web, "test", f)) } } });
  const ran = spawnSync(process.execPath, ["--test", ...tests.map((f) => join(out, f.replace(/\.ts$/, ".js")))], { stdio: "inherit" });
  process.exitCode = ran.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
