import { Fragment, memo, useRef, useState, type KeyboardEvent } from "react";
import type { Piece } from "../lib/colours.ts";
import type { DiffLine } from "../lib/diff.ts";
import { draftOf, keepDraft, readDraft } from "../lib/drafts.ts";
import { cutLine, escapeLine, escapeText, lineSteps } from "../lib/text.ts";
import type { Finding } from "../types.ts";
import { FindingBox } from "./checks.tsx";

export const signs = { add: "+", del: "-", same: " ", note: "" } as const;
export const names = { add: "added", del: "removed", same: "", note: "" } as const;

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

/** nextLine is the button of the line after or before one, within a file; Home and End give the first and the last. */
function nextLine(from: HTMLElement, key: string): HTMLElement | undefined {
  const all = [...(from.closest(".diff")?.querySelectorAll<HTMLElement>("button.no") ?? [])];
  const at = all.indexOf(from);
  switch (key) {
    case "ArrowDown":
      return all[at + 1];
    case "ArrowUp":
      return all[at - 1];
    case "Home":
      return all[0];
    case "End":
      return all[all.length - 1];
  }
  return undefined;
}

const Coloured = ({ pieces }: { pieces: Piece[] }) =>
  pieces.map((p, i) =>
    p.tone ? (
      <span key={i} className={"code-" + p.tone}>
        {escapeText(p.text)}
      </span>
    ) : (
      <Fragment key={i}>{escapeText(p.text)}</Fragment>
    ),
  );

/** Words is a line's sign and text. */
function Words({ line: l, colours }: { line: DiffLine; colours: Colours }) {
  const pieces = colours?.get(l);
  return (
    <>
      <span className="sign" aria-hidden="true">
        {signs[l.kind]}
      </span>
      <span className="code">
        {names[l.kind] ? <span className="hidden-text">{names[l.kind]}: </span> : null}
        {pieces ? <Coloured pieces={pieces} /> : <Code text={l.text} />}
      </span>
    </>
  );
}

export type Colours = Map<DiffLine, Piece[]> | null;

interface LineParts {
  line: DiffLine | null; // with its number among the new lines; side by side there may be none
  left?: DiffLine | null; // what stands beside it; undefined: one line below the other
  colours: Colours;
  place: string; // path:line
  tabbed: boolean; // the one line of its file to which Tab leads
  findings: Finding[] | undefined;
  mine: string | undefined;
  writing: boolean;
  write: (place: string) => void; // empty: no line
  keep: (place: string, text: string) => void;
}

/** LineView is a line with what was said about it. */
export const LineView = memo(function LineView({ line: l, left, colours, place, tabbed, findings, mine, writing, write, keep }: LineParts) {
  const button = useRef<HTMLButtonElement>(null);
  const onKeyDown = (e: KeyboardEvent<HTMLButtonElement>) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    const next = nextLine(e.currentTarget, e.key);
    if (!next) return;
    e.preventDefault();
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const done = (text: string | null) => {
    if (text !== null) keep(place, text);
    keepDraft(draftOf.comment(place), "");
    write("");
    button.current?.focus();
  };
  const number =
    l && l.new !== null ? (
      <button ref={button} className="no" tabIndex={tabbed ? 0 : -1} aria-label={`comment on line ${l.new}`} onClick={() => write(place)} onKeyDown={onKeyDown} data-line={place}>
        {l.new}
      </button>
    ) : (
      <span className="no" />
    );
  const old = (of: DiffLine | null) => (
    <span className="no" aria-hidden="true">
      {of?.old}
    </span>
  );
  return (
    <div>
      {left === undefined ? (
        <div className={"line " + (l?.kind ?? "")}>
          {old(l)}
          {number}
          {l ? <Words line={l} colours={colours} /> : null}
        </div>
      ) : (
        <div className="pair">
          <div className={"line " + (left?.kind ?? "none")}>
            {old(left)}
            {left ? <Words line={left} colours={colours} /> : null}
          </div>
          <div className={"line " + (l?.kind ?? "none")}>
            {number}
            {l ? <Words line={l} colours={colours} /> : null}
          </div>
        </div>
      )}
      {(findings ?? []).map((f, n) => (
        <FindingBox key={n} f={f} />
      ))}
      {mine !== undefined && !writing ? (
        <div className="finding mine">
          <div className="wrap">{escapeText(mine)}</div>
          <div className="row">
            <button className="plain small" onClick={() => write(place)}>
              Change
            </button>
            <button className="plain small" onClick={() => keep(place, "")}>
              Take away
            </button>
          </div>
        </div>
      ) : null}
      {writing ? <CommentBox first={mine ?? ""} place={place} done={done} /> : null}
    </div>
  );
});

function CommentBox({ first, place, done }: { first: string; place: string; done: (text: string | null) => void }) {
  const [text, setText] = useState(() => readDraft(draftOf.comment(place)) || first);
  return (
    <div className="finding mine stack tight">
      <label className="field">
        Comment on {escapeLine(place)}
        <textarea
          value={text}
          autoFocus
          onChange={(e) => {
            setText(e.target.value);
            keepDraft(draftOf.comment(place), e.target.value);
          }}
          onKeyDown={(e) => {
            if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) done(text.trim());
            else if (e.key === "Escape") done(null);
            else return;
            e.preventDefault();
            e.stopPropagation();
          }}
        />
        <span className="hint">Ctrl-Enter keeps it, Esc leaves it</span>
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
