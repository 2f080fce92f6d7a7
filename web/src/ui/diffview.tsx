import { useEffect, useState } from "react";
import { drawnLines, pairLines, type DiffFile, type DiffLine, type DiffPair } from "../lib/diff.ts";
import { languageOf } from "../lib/languages.ts";
import { escapeLine, escapeText } from "../lib/text.ts";
import type { Finding } from "../types.ts";
import { Code, LineView, names, signs, type Colours } from "./diffline.tsx";

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
  set: (place: string, text: string) => void; // the same function for good
}

/** useColours is the colours of the lines of a file that is open, once they are there. */
function useColours(file: DiffFile, open: boolean): Colours {
  const [colours, setColours] = useState<Colours>(null);
  useEffect(() => {
    if (!open || file.binary || !languageOf(file.path)) return;
    let gone = false;
    // Without its colours the code is as readable: a chunk that does not come is not an error.
    import("../lib/colours.ts").then((m) => gone || setColours(m.colourFile(file)), () => {});
    return () => {
      gone = true;
    };
  }, [file, open]);
  return colours;
}

interface FileParts {
  file: DiffFile;
  findings: Map<string, Finding[]>;
  comments: Comments;
  folded: boolean;
  split: boolean; // side by side
  seen: boolean;
  see: (file: DiffFile, on: boolean) => void;
}

/** FileDiff is the change of a file, with findings and comments at their lines. */
export function FileDiff({ file, findings, comments, folded, split, seen, see }: FileParts) {
  const [open, setOpen] = useState(!folded && !seen);
  const [most, setMost] = useState(drawnLines);
  const [writing, setWriting] = useState("");
  const first = file.hunks.flatMap((h) => h.lines).find((l) => l.new !== null)?.new ?? 0;
  const colours = useColours(file, open);
  const [tabbed, setTabbed] = useState(`${file.path}:${first}`);
  const lines = file.hunks.reduce((n, h) => n + h.lines.length, 0);
  const name = escapeLine(file.path);
  let left = most;
  return (
    <section className="panel file" id={"file-" + file.path} data-testid="diff-file" aria-label={name}>
      <header>
        <h3 className="mono wrap">
          <button className="plain" aria-expanded={open} aria-label={(open ? "fold " : "unfold ") + name} onClick={() => setOpen(!open)} data-row>
            {open ? "▾" : "▸"}
          </button>{" "}
          {file.action === "renamed" ? escapeLine(file.oldPath) + " → " : ""}
          {name}
        </h3>
        <span className="small num">
          <span className="muted">{file.action} </span>
          <span className="plus">+{file.added}</span> <span className="minus">−{file.removed}</span>{" "}
          <label className="check">
            <input
              type="checkbox"
              checked={seen}
              aria-label={"seen: " + name}
              onChange={(e) => {
                see(file, e.target.checked);
                setOpen(!e.target.checked);
              }}
              data-testid="seen"
            />{" "}
            seen
          </label>
        </span>
      </header>
      {open && file.binary ? <p className="empty">A binary file: its change is not shown.</p> : null}
      {open && !file.binary && lines === 0 ? <p className="empty">No line changed.</p> : null}
      {open ? (
        <div
          className={"diff" + (split ? " split" : "")}
          tabIndex={0}
          role="group"
          aria-label={`change of ${name}; arrow keys go over its lines, Enter comments on one`}
          onFocus={(e) => {
            const place = e.target.dataset["line"];
            if (place) setTabbed(place);
          }}
        >
          {file.hunks.map((h, i) => {
            const part = h.lines.slice(0, Math.max(0, left));
            left -= part.length;
            if (part.length === 0) return null;
            const rows: (DiffPair & { alone?: DiffLine })[] = split ? pairLines(part) : part.map((l) => ({ left: null, right: l, alone: l }));
            return (
              <div key={i}>
                <div className="hunk">{escapeText(h.head)}</div>
                {rows.map((row, j) => {
                  const place = row.right === null || row.right.new === null ? "" : `${file.path}:${row.right.new}`;
                  return (
                    <LineView
                      key={j}
                      line={row.right}
                      left={row.alone ? undefined : row.left}
                      colours={colours}
                      place={place}
                      tabbed={place === tabbed}
                      findings={findings.get(place)}
                      mine={comments.of.get(place)}
                      writing={place !== "" && writing === place}
                      write={setWriting}
                      keep={comments.set}
                    />
                  );
                })}
              </div>
            );
          })}
        </div>
      ) : null}
      {open && lines > most ? (
        <p className="empty">
          <button onClick={() => setMost(most + drawnLines)}>Show more: {(lines - most).toLocaleString("en-US")} lines</button>
        </p>
      ) : null}
    </section>
  );
}
