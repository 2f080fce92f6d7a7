// The Markdown of a pull request, read into blocks. It knows what the company writes and what
// people quote; HTML stays text, and a link leads to http or https alone.

import { escapeText } from "./text.ts";

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em"; parts: Inline[] }
  | { kind: "link"; url: string; parts: Inline[] };

export type Block =
  | { kind: "heading"; level: number; parts: Inline[] }
  | { kind: "paragraph"; parts: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; first: number | null; items: Block[][] } // the number of the first; null: bullets
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "details"; summary: Inline[]; blocks: Block[] }
  | { kind: "rule" };

const deepest = 12; // blocks within blocks; what is deeper stays text

const fenceRE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const headingRE = /^ {0,3}(#{1,6})\s+(.*)$/s;
const ruleRE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const itemRE = /^( {0,3})(?:[-*+]|(\d{1,9})[.)])( +|$)/;
const quoteRE = /^ {0,3}> ?/;
const delimiterRE = /^\|?:?-+:?(?:\|:?-+:?)*\|?$/; // without its blanks

const isBlank = (line: string): boolean => line.trim() === "";

const isDelimiter = (line: string | undefined): boolean => line !== undefined && line.includes("|") && delimiterRE.test(line.replace(/\s/g, ""));

/** beginsBlock reports whether a line ends the paragraph before it. */
const beginsBlock = (line: string): boolean => [fenceRE, headingRE, ruleRE, itemRE, quoteRE].some((re) => re.test(line)) || isDetailsBegin(line) || isDetailsEnd(line);

const isDetailsBegin = (line: string): boolean => line.trim() === "<details>" || line.trim().startsWith("<details><summary>");

const isDetailsEnd = (line: string): boolean => line.trim() === "</details>";

const isComment = (line: string): boolean => /^\s*<!--.*-->\s*$/.test(line);

/** parseMarkdown reads a text into blocks. */
export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.replace(/\r\n?/g, "\n").replaceAll("\u200b", "").split("\n"), 0);
}

function parseBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  if (depth > deepest) return [{ kind: "paragraph", parts: [{ kind: "text", text: lines.join("\n") }] }];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? "";
    if (isBlank(line) || isComment(line) || isDetailsEnd(line)) {
      i++;
      continue;
    }
    const read = readFence(lines, i) ?? readDetails(lines, i, depth) ?? readQuote(lines, i, depth) ?? readTable(lines, i) ?? readList(lines, i, depth);
    if (read) {
      blocks.push(read.block);
      i = read.next;
      continue;
    }
    const heading = headingRE.exec(line);
    if (heading) blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, parts: parseInline(heading[2] ?? "") });
    else if (ruleRE.test(line)) blocks.push({ kind: "rule" });
    else {
      let end = i + 1;
      while (end < lines.length && !isBlank(lines[end] ?? "") && !beginsBlock(lines[end] ?? "") && !isDelimiter(lines[end + 1])) end++;
      blocks.push({ kind: "paragraph", parts: parseInline(lines.slice(i, end).join("\n").trim()) });
      i = end;
      continue;
    }
    i++;
  }
  return blocks;
}

interface ReadBlock {
  block: Block;
  next: number; // the line after it
}

function readFence(lines: string[], at: number): ReadBlock | null {
  const mark = fenceRE.exec(lines[at] ?? "")?.[1];
  if (!mark) return null;
  let end = at + 1;
  const isEnd = (line: string): boolean => {
    const bare = line.trim();
    return bare.length >= mark.length && bare === (mark[0] ?? "").repeat(bare.length);
  };
  while (end < lines.length && !isEnd(lines[end] ?? "")) end++;
  return { block: { kind: "code", text: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

function readDetails(lines: string[], at: number, depth: number): ReadBlock | null {
  const line = lines[at] ?? "";
  if (!isDetailsBegin(line)) return null;
  let first = at + 1;
  let summary = readSummary(line.trim().slice("<details>".length));
  if (!summary) {
    summary = readSummary((lines[first] ?? "").trim());
    if (summary) first++;
  }
  let open = 1;
  let end = first;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? "";
    const fence = readFence(lines, end);
    if (fence) end = fence.next - 1;
    else if (isDetailsBegin(line)) open++;
    else if (isDetailsEnd(line) && --open === 0) break;
  }
  return { block: { kind: "details", summary: parseInline(summary || "Details"), blocks: parseBlocks(lines.slice(first, end), depth + 1) }, next: end + 1 };
}

/** readSummary is the words of a line <summary>words</summary>; empty: it is none. */
function readSummary(line: string): string {
  if (!line.startsWith("<summary>")) return "";
  const words = line.slice("<summary>".length);
  return words.endsWith("</summary>") ? words.slice(0, -"</summary>".length) : words;
}

function readQuote(lines: string[], at: number, depth: number): ReadBlock | null {
  let end = at;
  while (end < lines.length && quoteRE.test(lines[end] ?? "")) end++;
  if (end === at) return null;
  return { block: { kind: "quote", blocks: parseBlocks(lines.slice(at, end).map((l) => l.replace(quoteRE, "")), depth + 1) }, next: end };
}

function readList(lines: string[], at: number, depth: number): ReadBlock | null {
  const begin = itemRE.exec(lines[at] ?? "");
  if (!begin || ruleRE.test(lines[at] ?? "")) return null;
  const first = begin[2] === undefined ? null : Number(begin[2]);
  const items: Block[][] = [];
  let i = at;
  while (i < lines.length) {
    const head = itemRE.exec(lines[i] ?? "");
    if (!head || (head[2] === undefined) !== (first === null) || ruleRE.test(lines[i] ?? "")) break;
    const width = head[0].length;
    const own = [(lines[i] ?? "").slice(width)];
    for (i++; i < lines.length; i++) {
      const line = lines[i] ?? "";
      const indent = line.length - line.trimStart().length;
      if (isBlank(line)) {
        const after = lines[i + 1] ?? "";
        if (isBlank(after) || after.length - after.trimStart().length < Math.min(width, 2)) break;
        own.push("");
      } else if (indent >= Math.min(width, 2)) own.push(line.slice(Math.min(indent, width)));
      else if (beginsBlock(line) || isBlank(own[own.length - 1] ?? "")) break;
      else own.push(line); // a line of the paragraph that was not indented
    }
    items.push(parseBlocks(own, depth + 1));
    let next = i;
    while (next < lines.length && isBlank(lines[next] ?? "")) next++;
    if (next > i && itemRE.test(lines[next] ?? "")) i = next; // items with a blank line between them
  }
  return { block: { kind: "list", first, items }, next: i };
}

/** splitRow is the cells of a line of a table: a bar behind a backslash ends none. */
function splitRow(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  const bare = line.trim().replace(/^\|/, "");
  for (let i = 0; i < bare.length; i++) {
    if (bare[i] === "\\" && i + 1 < bare.length) {
      cell += "\\" + (bare[++i] ?? "");
    } else if (bare[i] === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += bare[i];
  }
  if (cell.trim() !== "") cells.push(cell.trim());
  return cells;
}

function readTable(lines: string[], at: number): ReadBlock | null {
  const line = lines[at] ?? "";
  if (!line.includes("|") || !isDelimiter(lines[at + 1])) return null;
  const head = splitRow(line);
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|") && !isBlank(lines[end] ?? "")) end++;
  // A row has the cells that stand in it: filled up to a wide head, many short rows would be more than a browser draws.
  const rows = lines.slice(at + 2, end).map((row) => splitRow(row).map((cell) => parseInline(cell)));
  return { block: { kind: "table", head: head.map((h) => parseInline(h)), rows }, next: end };
}

const entities: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'" };

const linkRE = /\[([^[\]\n]+)\]\((https?:\/\/[^\s()<>]+)\)/y;
const addressRE = /https?:\/\/[^\s<>()[\]"'`*|\\]+/y;

/** isWebAddress reports whether an address is one of http or https, and hides nothing. */
export function isWebAddress(url: string): boolean {
  if (!/^https?:\/\//i.test(url) || escapeText(url) !== url) return false;
  try {
    const u = new URL(url);
    return (u.protocol === "http:" || u.protocol === "https:") && u.username === "" && u.password === "";
  } catch {
    return false;
  }
}

/** hostBehind is where a link leads, if its words do not say that themselves. */
export function hostBehind(url: string, parts: Inline[]): string {
  const to = new URL(url);
  const words = parts.map((p) => (p.kind === "text" ? p.text : "")).join("");
  return words === url && url.toLowerCase().startsWith(to.origin) ? "" : to.host;
}

/** parseInline reads the text of a block: code, emphasis and links. */
export function parseInline(text: string, inLink = false): Inline[] {
  const parts: Inline[] = [];
  let plain = "";
  const flush = (): void => {
    if (plain) parts.push({ kind: "text", text: plain });
    plain = "";
  };
  const missing = new Set<string>(); // marks that nothing ends from here on
  /** findEnd is where a mark that stands before `from` ends, or -1. */
  const findEnd = (mark: string, from: number, ends: (at: number) => boolean): number => {
    if (missing.has(mark)) return -1;
    for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + mark.length)) if (ends(at)) return at;
    missing.add(mark);
    return -1;
  };
  for (let i = 0; i < text.length; ) {
    const c = text[i] ?? "";
    if (c === "\\" && /[!-/:-@[-`{-~]/.test(text[i + 1] ?? "")) {
      plain += text[i + 1];
      i += 2;
      continue;
    }
    if (c === "&") {
      const name = /^&(?:lt|gt|amp|quot|#39);/.exec(text.slice(i, i + 6))?.[0];
      plain += name ? entities[name] : c;
      i += name?.length ?? 1;
      continue;
    }
    if (c === "`") {
      const mark = countMarks(text, i);
      const end = findEnd(mark, i + mark.length, (at) => text[at - 1] !== "`" && text[at + mark.length] !== "`");
      if (end >= 0) {
        flush();
        parts.push({ kind: "code", text: trimCode(text.slice(i + mark.length, end)) });
        i = end + mark.length;
      } else {
        plain += mark;
        i += mark.length;
      }
      continue;
    }
    if (c === "*") {
      const mark = text[i + 1] === "*" ? "**" : "*";
      const from = i + mark.length;
      if (/[\s(]/.test(text[i - 1] ?? " ") && /[^\s*]/.test(text[from] ?? " ")) {
        const end = findEnd(mark, from, (at) => /\S/.test(text[at - 1] ?? "") && /[\s.,;:)!?]/.test(text[at + mark.length] ?? " "));
        if (end > from) {
          flush();
          parts.push({ kind: mark === "**" ? "strong" : "em", parts: parseInline(text.slice(from, end), inLink) });
          i = end + mark.length;
          continue;
        }
      }
      plain += mark;
      i = from;
      continue;
    }
    const link = inLink ? null : readLink(text, i);
    if (link) {
      flush();
      parts.push(link.part);
      i = link.next;
      continue;
    }
    plain += c;
    i++;
  }
  flush();
  return parts;
}

/** readLink reads [words](address), or an address that stands in the text, at a place of it. */
function readLink(text: string, at: number): { part: Inline; next: number } | null {
  if (text[at] === "[") {
    linkRE.lastIndex = at;
    const m = linkRE.exec(text);
    if (!m || !isWebAddress(m[2] ?? "")) return null;
    return { part: { kind: "link", url: m[2] ?? "", parts: parseInline(m[1] ?? "", true) }, next: at + m[0].length };
  }
  if (text[at] !== "h" || /[\w]/.test(text[at - 1] ?? " ")) return null;
  addressRE.lastIndex = at;
  let url = addressRE.exec(text)?.[0] ?? "";
  if (!url) return null;
  while (/[.,;:!?]/.test(url[url.length - 1] ?? "")) url = url.slice(0, -1);
  const words: Inline = { kind: "text", text: url };
  return { part: isWebAddress(url) ? { kind: "link", url, parts: [words] } : words, next: at + url.length };
}

/** countMarks is the row of backticks at a place. */
function countMarks(text: string, at: number): string {
  let end = at;
  while (text[end] === "`") end++;
  return text.slice(at, end);
}

/** trimCode is the content of a code span: one blank at both ends belongs to its marks. */
function trimCode(text: string): string {
  const bare = text.replaceAll("\\|", "|");
  return bare.length > 2 && bare.startsWith(" ") && bare.endsWith(" ") ? bare.slice(1, -1) : bare;
}
