// The colours of code in a diff. highlight.js tells which part of a text is what; no HTML is
// made of it. This module is loaded when a diff is shown.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { DiffFile, DiffLine } from "./diff.ts";
import { languageOf } from "./languages.ts";

const languages = { bash, c, cpp, csharp, css, dockerfile, go, ini, java, javascript, json, kotlin, makefile, markdown, php, python, ruby, rust, sql, swift, typescript, xml, yaml };

/** Piece is a part of a line, and the class of its colour; an empty one has none. */
export interface Piece {
  text: string;
  tone: string;
}

const tones: Record<string, string> = {
  keyword: "keyword", name: "keyword", "selector-tag": "keyword", string: "string", regexp: "string", char: "string", link: "string", comment: "comment", quote: "comment", doctag: "comment",
  number: "number", literal: "number", symbol: "number", bullet: "number", title: "title", section: "title", "selector-class": "title", "selector-id": "title",
  type: "type", built_in: "type", attr: "type", attribute: "type", meta: "meta", variable: "meta", property: "type",
};

/** Pieces takes what highlight.js finds, as pieces. */
class Pieces {
  pieces: Piece[] = [];
  private readonly scopes: string[] = [];

  addText(text: string): void {
    const scope = this.scopes.findLast((s) => s in tones || s === "subst") ?? "";
    if (text) this.pieces.push({ text, tone: tones[scope] ?? "" });
  }

  startScope(name: string): void {
    this.scopes.push(name.split(".")[0] ?? "");
  }

  endScope(): void {
    this.scopes.pop();
  }

  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(other: Pieces): void {
    this.pieces.push(...other.pieces);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.configure({ __emitter: Pieces as never });

const mostLines = 3000; // of a file that has colours
const mostText = 200_000; // characters of it
const longestLine = 2000; // characters

/** colourFile is the pieces of the lines of a file; of a language that is not known, and of very long text, there are none. */
export function colourFile(file: DiffFile): Map<DiffLine, Piece[]> {
  const out = new Map<DiffLine, Piece[]>();
  const language = languageOf(file.path);
  const all = file.hunks.flatMap((h) => h.lines);
  if (!language || all.length > mostLines || all.some((l) => l.text.length > longestLine) || all.reduce((n, l) => n + l.text.length, 0) > mostText) return out;
  for (const h of file.hunks) {
    // What was removed is read with the old lines around it, the rest with the new ones.
    const fill = (lines: DiffLine[], wanted: (l: DiffLine) => boolean): void => {
      colourText(lines.map((l) => l.text).join("\n"), language).forEach((pieces, i) => {
        const line = lines[i];
        if (line && wanted(line)) out.set(line, pieces);
      });
    };
    fill(h.lines.filter((l) => l.kind === "same" || l.kind === "add"), () => true);
    if (h.lines.some((l) => l.kind === "del")) fill(h.lines.filter((l) => l.kind === "same" || l.kind === "del"), (l) => l.kind === "del");
  }
  return out;
}

/** colourText is the pieces of each line of a text. */
function colourText(text: string, language: string): Piece[][] {
  const found = hljs.highlight(text, { language, ignoreIllegals: true })._emitter as unknown as Pieces;
  const lines: Piece[][] = [[]];
  for (const p of found.pieces) {
    p.text.split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part) lines[lines.length - 1]?.push({ text: part, tone: p.tone });
    });
  }
  return lines;
}
