// A unified diff of git, read into files and lines, with the findings at their lines.

import type { Finding } from "../types.ts";

export type LineKind = "add" | "del" | "same" | "note";

export interface DiffLine {
  kind: LineKind;
  old: number | null;
  new: number | null;
  text: string;
}

export interface Hunk {
  head: string;
  lines: DiffLine[];
}

export interface DiffFile {
  path: string;
  oldPath: string;
  action: "created" | "modified" | "deleted" | "renamed";
  binary: boolean;
  added: number;
  removed: number;
  hunks: Hunk[];
}

/** unquote reads a path as git quotes it: "a/\303\244" is a/ä. */
export function unquote(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"') || path.length < 2) return path;
  const bytes: number[] = [];
  const body = path.slice(1, -1);
  const escapes: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (let i = 0; i < body.length; i++) {
    const c = body[i] ?? "";
    if (c !== "\\") {
      bytes.push(...new TextEncoder().encode(c));
      continue;
    }
    const octal = /^[0-7]{3}/.exec(body.slice(i + 1));
    if (octal) {
      bytes.push(parseInt(octal[0], 8) & 255);
      i += 3;
      continue;
    }
    const e = body[++i] ?? "";
    bytes.push(escapes[e] ?? e.charCodeAt(0));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const strip = (text: string): string => unquote(text.trimEnd()).replace(/^[ab]\//, "");

function newFile(head: string): DiffFile {
  // The names of "diff --git a/x b/x" are of equal length where nothing is renamed.
  const rest = head.slice("diff --git ".length);
  let path = "";
  if (rest.endsWith('"')) path = strip(rest.slice(rest.lastIndexOf(' "') + 1));
  else {
    const half = (rest.length - 1) / 2;
    path = rest[half] === " " && rest.slice(2, half) === rest.slice(half + 3) ? rest.slice(half + 3) : (rest.split(" b/").pop() ?? rest);
  }
  return { path, oldPath: path, action: "modified", binary: false, added: 0, removed: 0, hunks: [] };
}

/** parseDiff reads a unified diff. Lines before the first file are left out. */
export function parseDiff(text: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | null = null;
  let hunk: Hunk | null = null;
  let oldLine = 0;
  let newLine = 0;
  let oldLeft = 0;
  let newLeft = 0;
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  for (const line of lines) {
    // Inside of a hunk its head says how many lines there are: a removed line that looks
    // like a head is a line.
    if (hunk && file && (oldLeft > 0 || newLeft > 0)) {
      const sign = line[0] ?? " ";
      const body = line.slice(1);
      if (sign === "+") {
        hunk.lines.push({ kind: "add", old: null, new: newLine++, text: body });
        newLeft--;
        file.added++;
        continue;
      }
      if (sign === "-") {
        hunk.lines.push({ kind: "del", old: oldLine++, new: null, text: body });
        oldLeft--;
        file.removed++;
        continue;
      }
      if (sign === " ") {
        hunk.lines.push({ kind: "same", old: oldLine++, new: newLine++, text: body });
        oldLeft--;
        newLeft--;
        continue;
      }
    }
    if (line.startsWith("\\")) {
      hunk?.lines.push({ kind: "note", old: null, new: null, text: line.slice(1).trim() });
      continue;
    }
    if (line.startsWith("diff --git ")) {
      file = newFile(line);
      hunk = null;
      oldLeft = newLeft = 0;
      files.push(file);
      continue;
    }
    if (!file) continue;
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head) {
      oldLine = Number(head[1]);
      oldLeft = head[2] === undefined ? 1 : Number(head[2]);
      newLine = Number(head[3]);
      newLeft = head[4] === undefined ? 1 : Number(head[4]);
      hunk = { head: line, lines: [] };
      file.hunks.push(hunk);
      continue;
    }
    if (line.startsWith("--- ") && !line.startsWith("--- /dev/null")) file.oldPath = strip(line.slice(4));
    else if (line.startsWith("+++ ") && !line.startsWith("+++ /dev/null")) file.path = strip(line.slice(4));
    else if (line.startsWith("new file")) file.action = "created";
    else if (line.startsWith("deleted file")) file.action = "deleted";
    else if (line.startsWith("rename from ")) {
      file.action = "renamed";
      file.oldPath = unquote(line.slice(12));
    } else if (line.startsWith("rename to ")) file.path = unquote(line.slice(10));
    else if (line.startsWith("Binary files ") || line.startsWith("GIT binary patch")) file.binary = true;
  }
  return files;
}

/** drawnLines is how many lines of a file are drawn at once. */
export const drawnLines = 3000;

const longChange = 400; // changed lines of a file that is folded at first
const unfoldedLines = 1500; // lines of all files that are not

/**
 * foldFiles returns the paths of the files that are folded at first: files with long changes, and
 * every file behind the number of lines that a browser draws quickly. Unchanged lines count too: they are drawn as well.
 */
export function foldFiles(files: DiffFile[]): Set<string> {
  const folded = new Set<string>();
  let lines = 0;
  for (const f of files) {
    const own = Math.min(drawnLines, f.hunks.reduce((n, h) => n + h.lines.length, 0));
    if (f.added + f.removed > longChange || (lines > 0 && lines + own > unfoldedLines)) folded.add(f.path);
    else lines += own;
  }
  return folded;
}

/** DiffPair is a line as it was, and the one that stands beside it. */
export interface DiffPair {
  left: DiffLine | null;
  right: DiffLine | null;
}

/** pairLines puts the lines of a hunk side by side: what was removed beside what was added in its place. */
export function pairLines(lines: DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = [];
  let went: DiffLine[] = [];
  let came: DiffLine[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(went.length, came.length); i++) pairs.push({ left: went[i] ?? null, right: came[i] ?? null });
    went = [];
    came = [];
  };
  for (const l of lines) {
    if (l.kind === "del") {
      if (came.length > 0) flush();
      went.push(l);
    } else if (l.kind === "add") came.push(l);
    else if (l.kind === "note" && (went.length > 0 || came.length > 0)) (came.length > 0 ? came : went).push(l); // of the line before it
    else {
      flush();
      pairs.push({ left: l, right: l });
    }
  }
  flush();
  return pairs;
}

/** placeFindings puts each finding at its line; those whose line is not in the diff come apart. */
export function placeFindings(files: DiffFile[], findings: Finding[]): { at: Map<string, Finding[]>; apart: Finding[] } {
  const lines = new Set<string>();
  for (const f of files) for (const h of f.hunks) for (const l of h.lines) if (l.new !== null) lines.add(`${f.path}:${l.new}`);
  const at = new Map<string, Finding[]>();
  const apart: Finding[] = [];
  for (const f of findings) {
    const key = `${f.file}:${f.line}`;
    if (!lines.has(key)) {
      apart.push(f);
      continue;
    }
    at.set(key, [...(at.get(key) ?? []), f]);
  }
  return { at, apart };
}

/** diffOfEdit is an edit of a tool as lines of a diff: what went, and what came. */
export function diffOfEdit(before: string, after: string): DiffLine[] {
  // The last line break ends a line and begins none, unless one side alone has it.
  const whole = [before, after].every((text) => text === "" || text.endsWith("\n"));
  const split = (text: string): string[] => (text === "" ? [] : (whole ? text.slice(0, -1) : text).split("\n"));
  const a = split(before);
  const b = split(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out: DiffLine[] = [];
  const same = (text: string) => out.push({ kind: "same", old: null, new: null, text });
  a.slice(0, head).slice(-3).forEach(same);
  a.slice(head, a.length - tail).forEach((text) => out.push({ kind: "del", old: null, new: null, text }));
  b.slice(head, b.length - tail).forEach((text) => out.push({ kind: "add", old: null, new: null, text }));
  a.slice(a.length - tail).slice(0, 3).forEach(same);
  return out;
}
