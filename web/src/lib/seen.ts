// Which files of a change the reader has seen. A file that changes again is unseen.

import type { DiffFile } from "./diff.ts";

const key = "company.seen";
const most = 2000; // files that are remembered

/** digestOf tells one change of a file from another. */
export function digestOf(file: DiffFile): string {
  let h = 0x811c9dc5;
  const add = (text: string): void => {
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  };
  add(file.action + file.oldPath);
  for (const hunk of file.hunks) for (const l of hunk.lines) if (l.kind !== "same") add(`${l.kind}${l.text}\n`);
  return (h >>> 0).toString(36);
}

const nameOf = (of: string, file: DiffFile): string => `${of}\n${file.path}\n${digestOf(file)}`;

function readAll(): string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(all) ? all.filter((s) => typeof s === "string") : [];
  } catch {
    return [];
  }
}

/** seenFiles are the paths of the files that were seen as they are now. of names the change. */
export function seenFiles(of: string, files: DiffFile[]): Set<string> {
  const all = new Set(readAll());
  return new Set(files.filter((f) => all.has(nameOf(of, f))).map((f) => f.path));
}

/** noteSeen remembers that a file was seen, or is to be looked at again. */
export function noteSeen(of: string, file: DiffFile, on: boolean): void {
  const name = nameOf(of, file);
  const all = readAll().filter((s) => s !== name);
  if (on) all.push(name);
  try {
    localStorage.setItem(key, JSON.stringify(all.slice(-most)));
  } catch {
    // It holds until the page is loaded again.
  }
}

const viewKey = "company.diff";

/** readSplit reports whether diffs are shown side by side. */
export function readSplit(): boolean {
  try {
    return localStorage.getItem(viewKey) === "split";
  } catch {
    return false;
  }
}

export function keepSplit(on: boolean): void {
  try {
    localStorage.setItem(viewKey, on ? "split" : "");
  } catch {
    // It holds until the page is loaded again.
  }
}
