import { useState } from "react";
import type { DiffFile, DiffLine } from "../lib/diff.ts";
import { cutLine, escapeLine, escapeText, lineSteps } from "../lib/text.ts";
import type { Finding } from "../types.ts";
import { FindingBox } from "./checks.tsx";

const signs = { add: "+", del: "-", same: " ", note: "" } as const;
const names = { add: "added", del: "removed", same: "", note: "" } as const;

/** Code is the text of a line. Of a long one there is the beginning, and how much is left. */
export function Code({ text }: { text: string }) {
  const [most, setMost] = useState(lineSteps[0]);
  const cut = cutLine(text, most);
  const more = lineSteps.find((n) => n > most);
  return (
    <>
      {cut.text}
      {cut.left > 0 ? (
        <span className="left-out">
          {" "}
          … {cut.left.toLocaleString("en-US")} characters more{" "}
          {more ? (
            <button className="plain small" onClick={() => setMost(more)}>
              Show more of this line
            </button>
          ) : (
            "are in the file itself"
          )}
        </span>
      ) : null}
    </>
  );
}

/** PlainDiff is lines without a place in a file, such as an edit of a tool. */
export function PlainDiff({ lines, most = 40 }: { lines: DiffLine[]; most?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? lines.slice(0, 5000) : lines.slice(0, most);
  return (
    <>
      <div className="diff" tabIndex={0} role="group" aria-label="change">
        {shown.map((l, i) => (
          <div key={i} className={"line " + l.kind} style={{ gridTemplateColumns: "18px minmax(max-content, 1fr)" }}>
            <span className="sign" aria-hidden="true">
              {signs[l.kind]}
            </span>
            <span className="code">
              {names[l.kind] ? <span className="hidden-text">{names[l.kind]}: </span> : null}
              <Code text={l.text} />
            </span>
          </div>
        ))}
      </div>
      {lines.length > most ? (
        <button className="plain small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fold" : `Show all ${lines.length} lines`}
        </button>
      ) : null}
    </>
  );
}

export interface Comments {
  of: Map<string, string>; // by path:line
  set: (key: string, text: string) => void;
}

const chunk = 3000; // lines that are drawn at once

/** FileDiff is the change of a file, with findings and comments at their lines. */
export function FileDiff({ file, findings, comments, folded }: { file: DiffFile; findings: Map<string, Finding[]>; comments: Comments; folded: boolean }) {
  const [open, setOpen] = useState(!folded);
  const [most, setMost] = useState(chunk);
  const [writing, setWriting] = useState("");
  const lines = file.hunks.reduce((n, h) => n + h.lines.length, 0);
  let left = most;
  return (
    <section className="panel file" id={"file-" + file.path} data-testid="diff-file" aria-label={file.path}>
      <header>
        <h3 className="mono wrap">
          <button className="plain" aria-expanded={open} aria-label={(open ? "fold " : "unfold ") + file.path} onClick={() => setOpen(!open)} data-row>
            {open ? "▾" : "▸"}
          </button>{" "}
          {file.action === "renamed" ? escapeLine(file.oldPath) + " → " : ""}
          {escapeLine(file.path)}
        </h3>
        <span className="small num">
          <span className="muted">{file.action} </span>
          <span className="plus">+{file.added}</span> <span className="minus">−{file.removed}</span>
        </span>
      </header>
      {open && file.binary ? <p className="empty">A binary file: its change is not shown.</p> : null}
      {open && !file.binary && lines === 0 ? <p className="empty">No line changed.</p> : null}
      {open ? (
        <div className="diff" tabIndex={0} role="group" aria-label={"change of " + file.path}>
          {file.hunks.map((h, i) => {
            const part = h.lines.slice(0, Math.max(0, left));
            left -= part.length;
            if (part.length === 0) return null;
            return (
              <div key={i}>
                <div className="hunk">{escapeText(h.head)}</div>
                {part.map((l, j) => {
                  const key = `${file.path}:${l.new}`;
                  const mine = l.new !== null ? comments.of.get(key) : undefined;
                  return (
                    <div key={j}>
                      <div className={"line " + l.kind}>
                        <span className="no" aria-hidden="true">
                          {l.old}
                        </span>
                        {l.new !== null ? (
                          <button className="no" tabIndex={-1} aria-label={`comment on line ${l.new}`} onClick={() => setWriting(key)}>
                            {l.new}
                          </button>
                        ) : (
                          <span className="no" />
                        )}
                        <span className="sign" aria-hidden="true">
                          {signs[l.kind]}
                        </span>
                        <span className="code">
                          {names[l.kind] ? <span className="hidden-text">{names[l.kind]}: </span> : null}
                          <Code text={l.text} />
                        </span>
                      </div>
                      {l.new !== null ? (findings.get(key) ?? []).map((f, n) => <FindingBox key={n} f={f} />) : null}
                      {mine !== undefined && writing !== key ? (
                        <div className="finding mine">
                          <div className="wrap">{escapeText(mine)}</div>
                          <div className="row">
                            <button className="plain small" onClick={() => setWriting(key)}>
                              Change
                            </button>
                            <button className="plain small" onClick={() => comments.set(key, "")}>
                              Take away
                            </button>
                          </div>
                        </div>
                      ) : null}
                      {writing === key ? <CommentBox first={mine ?? ""} place={key} done={(text) => { if (text !== null) comments.set(key, text); setWriting(""); }} /> : null}
                    </div>
                  );
                })}
              </div>
            );
          })}
        </div>
      ) : null}
      {open && lines > most ? (
        <p className="empty">
          <button onClick={() => setMost(most + chunk)}>Show more: {(lines - most).toLocaleString("en-US")} lines</button>
        </p>
      ) : null}
    </section>
  );
}

function CommentBox({ first, place, done }: { first: string; place: string; done: (text: string | null) => void }) {
  const [text, setText] = useState(first);
  return (
    <div className="finding mine stack tight">
      <label className="field">
        Comment on {place}
        <textarea value={text} autoFocus onChange={(e) => setText(e.target.value)} />
      </label>
      <div className="row">
        <button className="primary" onClick={() => done(text.trim())} data-testid="keep-comment">
          Keep it
        </button>
        <button onClick={() => done(null)}>Leave it</button>
      </div>
    </div>
  );
}
