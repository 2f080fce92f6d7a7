// Which language a file is in, by its name.

const byExtension: Record<string, string> = {
  go: "go", ts: "typescript", tsx: "typescript", mts: "typescript", cts: "typescript", js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript",
  py: "python", rs: "rust", rb: "ruby", php: "php", java: "java", kt: "kotlin", kts: "kotlin", swift: "swift", c: "c", h: "c", cc: "cpp", cpp: "cpp", cxx: "cpp", hpp: "cpp", cs: "csharp",
  sh: "bash", bash: "bash", zsh: "bash", json: "json", yaml: "yaml", yml: "yaml", toml: "ini", ini: "ini", cfg: "ini", xml: "xml", html: "xml", svg: "xml", vue: "xml",
  css: "css", scss: "css", sql: "sql", md: "markdown", mk: "makefile",
};

const byName: Record<string, string> = { makefile: "makefile", gnumakefile: "makefile", dockerfile: "dockerfile", "go.mod": "go", gemfile: "ruby", rakefile: "ruby" };

/** languageOf is the language of a path; empty: none that has colours. */
export function languageOf(path: string): string {
  const name = (path.split("/").pop() ?? "").toLowerCase();
  if (Object.hasOwn(byName, name)) return byName[name] ?? "";
  const extension = name.includes(".") ? (name.split(".").pop() ?? "") : "";
  return Object.hasOwn(byExtension, extension) ? (byExtension[extension] ?? "") : "";
}
