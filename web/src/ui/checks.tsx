import { useState } from "react";
import { formatCount, formatTook, shortOID, type Tone } from "../lib/format.ts";
import { cutText, escapeLine, escapeText } from "../lib/text.ts";
import type { Check, Finding, Gate, JudgedFinding, Review } from "../types.ts";
import { Badge, Empty, Sign } from "./parts.tsx";

const tones: Record<string, Tone> = { passed: "good", failed: "bad", hollow: "bad", unread: "warn", known: "warn", as_before: "warn" };

const notes: Record<string, string> = {
  known: "red as on the base",
  as_before: "UNVERIFIED: red as on the base, and what is new cannot be told; let pass by the president",
  hollow: "HOLLOW: a test that must fail did not turn it red",
  unread: "red as on the base, and what is new cannot be told",
  skipped: "skipped",
};

/** Folded is long text behind its first lines. */
export function Folded({ text, lines = 12, label }: { text: string; lines?: number; label: string }) {
  const [open, setOpen] = useState(false);
  const [most, setMost] = useState(200_000);
  const all = text.replace(/\n+$/, "").split("\n");
  const shown = open ? cutText(text, most) : { text: all.slice(0, lines).join("\n"), left: 0 };
  return (
    <>
      <pre className="output" tabIndex={open ? 0 : undefined} aria-label={escapeLine(label)}>
        {escapeText(cutText(shown.text, most).text)}
      </pre>
      {all.length > lines || open ? (
        <button className="plain small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Fold" : `Show all ${all.length.toLocaleString("en-US")} lines`}
        </button>
      ) : null}
      {open && shown.left > 0 ? (
        <button className="plain small" onClick={() => setMost(most * 4)}>
          Show more: {shown.left.toLocaleString("en-US")} characters
        </button>
      ) : null}
    </>
  );
}

/** namePath is a folder of a repository for people, to whom "." would be the end of a sentence. */
const namePath = (folder: string): string => (folder === "." ? "./" : folder);

function CheckRow({ c }: { c: Check }) {
  const canary = c.canary;
  const facts: [string, string[] | undefined][] = [
    ["flaky", c.flaky],
    ["no longer run", c.gone],
    ["covers", canary?.proven?.map(namePath)],
    ["does not cover", [...(canary?.blind ?? []), ...(canary?.hollow ?? [])].map(namePath)],
    ["unproven", canary?.reason ? [canary.reason] : []],
  ];
  return (
    <li className="stack tight">
      <div className="row">
        <Sign tone={tones[c.verdict] ?? "calm"} />
        <strong>{escapeLine(c.name)}</strong>
        <span className={"small ink-" + (tones[c.verdict] ?? "calm")}>{c.verdict.replaceAll("_", " ")}</span>
        <span className="small muted num">
          {formatTook(c.took_ms)}
          {c.exit_code ? `, exit ${c.exit_code}` : ""}
          {c.counts && c.counts.passed + c.counts.failed + c.counts.skipped > 0 ? `, ${c.counts.passed} passed, ${c.counts.failed} failed, ${c.counts.skipped} skipped` : ""}
        </span>
      </div>
      <code className="wrap muted">{escapeLine(c.command)}</code>
      {c.absence || notes[c.verdict] ? <div className="small">{escapeLine(c.absence || notes[c.verdict] || "")}</div> : null}
      {c.slow ? <div className="small muted">{escapeLine(c.slow)}</div> : null}
      {facts.map(([what, names]) =>
        names && names.length > 0 ? (
          <div key={what} className="small muted">
            {what}: {escapeLine(names.join(", "))}
          </div>
        ) : null,
      )}
      {(c.tests ?? []).slice(0, 20).map((t) => (
        <div key={t.name} className="small">
          <span className="ink-bad">✗ </span>
          <span className="mono">{escapeLine(t.name)}</span>
          {t.known ? " (fails on the base too)" : ""}
          {t.message ? <div className="muted wrap">{escapeText(cutText(t.message, 600).text)}</div> : null}
        </div>
      ))}
      {c.output && c.verdict !== "known" ? <Folded text={c.beside || c.output} label={"output of " + c.name} /> : null}
    </li>
  );
}

export const Checks = ({ checks }: { checks: Check[] }) => (
  <ul className="stack">
    {checks.map((c) => (
      <CheckRow key={c.name} c={c} />
    ))}
  </ul>
);

/** GateView is the verdict of the gates on a tree. */
export function GateView({ gate }: { gate: Gate | null }) {
  if (!gate) return <Empty>No verdict of the gates yet.</Empty>;
  const state = gate.untested || (gate.passed && gate.untested_why) ? { text: "UNTESTED", tone: "warn" as Tone } : gate.passed ? { text: "gates passed", tone: "good" as Tone } : { text: gate.conflict ? "conflict" : "gates red", tone: "bad" as Tone };
  return (
    <div className="stack" data-testid="gate">
      <div className="row">
        <Badge state={state} />
        <span className="small muted">
          on <code>{shortOID(gate.head)}</code>
          {gate.onto && gate.onto !== gate.head ? <> merged onto <code>{shortOID(gate.onto)}</code></> : null}
          {gate.cached ? " (result of the same tree, from before)" : ""}
        </span>
      </div>
      {gate.untested_why ? <div className="small">{escapeLine(gate.untested_why)}</div> : null}
      <Checks checks={gate.checks} />
      {gate.red_green && !gate.red_green.reason ? (
        <div className="small muted">
          new tests: {gate.red_green.fresh}; red to green: {gate.red_green.shown}; test files changed: {gate.red_green.files}
        </div>
      ) : null}
    </div>
  );
}

const placeOf = (f: Finding) => escapeLine(f.file) + (f.line > 0 ? ":" + f.line : "");

const findingID = (f: Finding) => `finding-${f.file}:${f.line}`;

export function FindingBox({ f }: { f: Finding }) {
  return (
    <div className={"finding " + (f.severity === "blocking" ? "blocking" : "")} id={findingID(f)} data-testid="finding">
      <div>
        <strong className={f.severity === "blocking" ? "ink-bad" : "ink-warn"}>{f.severity}</strong>{" "}
        <span className="mono small">
          {placeOf(f)}
        </span>
      </div>
      <div className="wrap">{escapeText(f.what)}</div>
      {f.why ? <div className="small muted wrap">why: {escapeText(f.why)}</div> : null}
      {f.suggestion ? <div className="small wrap">suggestion: {escapeText(f.suggestion)}</div> : null}
    </div>
  );
}

/** showFinding scrolls to a finding, or to its file where that is folded. */
function showFinding(f: Finding): void {
  (document.getElementById(findingID(f)) ?? document.getElementById("file-" + f.file))?.scrollIntoView({ block: "center" });
}

/** EarlierFindings lists the findings that a later review has judged. */
function EarlierFindings({ findings }: { findings: JudgedFinding[] }) {
  const judged = findings.filter((f) => f.status !== "unverified");
  if (judged.length === 0) return null;
  return (
    <>
      <h3>Findings of earlier rounds</h3>
      <ul className="stack tight small" data-testid="earlier-findings">
        {judged.map((f, i) => (
          <li key={i} className="wrap">
            <span className={f.status === "confirmed" ? "ink-warn" : "muted"}>{f.status}</span> <span className="mono">{placeOf(f)}</span>
            <div>{escapeText(f.what)}</div>
            {f.basis ? <div className="muted">why: {escapeText(f.basis)}</div> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

/** ReviewView is a reviewer's verdict with what shows it. all: the findings of every round. atLines: the findings are on this page, at their lines. */
export function ReviewView({
  review,
  of,
  atLines,
  all,
}: {
  review: Review | null;
  of?: string;
  atLines?: boolean;
  all?: JudgedFinding[];
}) {
  if (!review) return <Empty>No review yet.</Empty>;
  const good = review.verdict === "approve";
  return (
    <div className="stack" data-testid="review-verdict">
      <div className="row">
        <Badge state={{ text: review.verdict.replaceAll("_", " "), tone: good ? "good" : "bad" }} />
        <span className="small muted">
          of <code>{shortOID(review.head)}</code>
          {of ? `, of ${of}, which holds for the whole` : ""}
          {review.findings?.length ? `, ${formatCount(review.findings.length, "finding")}` : ""}
        </span>
      </div>
      {(review.findings ?? []).length > 0 ? (
        <ul className="stack tight small">
          {(review.findings ?? []).map((f, i) => (
            <li key={i} className="wrap">
              <span className={f.severity === "blocking" ? "ink-bad" : "ink-warn"}>{f.severity}</span>{" "}
              {atLines ? (
                <button className="plain link small mono" onClick={() => showFinding(f)} data-testid="show-finding">
                  {placeOf(f)}
                </button>
              ) : (
                <span className="mono">{placeOf(f)}</span>
              )}
              <div>{escapeText(f.what)}</div>
            </li>
          ))}
        </ul>
      ) : null}
      <EarlierFindings findings={all ?? []} />
      {(review.evidence ?? []).length > 0 ? (
        <ul className="stack tight small">
          {(review.evidence ?? []).map((e, i) =>
            i > 0 && e === review.evidence?.[i - 1] && review.checked?.[i] === review.checked?.[i - 1] ? null : (
              <li key={i} className="wrap">
                <span className="muted">shown: </span>
                {escapeLine(e)}
                {review.checked?.[i] ? <div className="muted">seen: {escapeLine(review.checked[i] ?? "")}</div> : null}
              </li>
            ),
          )}
        </ul>
      ) : null}
    </div>
  );
}
