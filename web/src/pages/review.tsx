import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { sendAnswer, subjectOf, takesWords } from "../lib/actions.ts";
import { draftOf, keepDraft, readComments, readDraft, writeComments } from "../lib/drafts.ts";
import { foldFiles, parseDiff, placeFindings, type DiffFile } from "../lib/diff.ts";
import { formatCount, runState, shortOID, subtaskState, taskState } from "../lib/format.ts";
import { goTo, pullPath, runPath, taskPath } from "../lib/router.ts";
import { keepSplit, noteSeen, readSplit, seenFiles } from "../lib/seen.ts";
import { escapeLine, titleOf } from "../lib/text.ts";
import type { Approval, Finding, Gate, JudgedFinding, Option, Review, Shown, TaskDetail } from "../types.ts";
import { FindingBox, GateView, ReviewView } from "../ui/checks.tsx";
import { FileDiff, type Comments } from "../ui/diffview.tsx";
import { useDraft, useNarrow, useResource } from "../ui/hooks.ts";
import { A, Badge, Empty, Panel, Read } from "../ui/parts.tsx";
import { QuestionCard } from "./inbox.tsx";

interface Patch {
  of: string;
  from: string;
  to: string;
  stat: string;
  patch: string;
  truncated?: boolean;
  notes: string[] | null;
}

interface Subject {
  task: TaskDetail | undefined;
  gate: Gate | null;
  review: Review | null;
  of?: string;
  findings?: JudgedFinding[];
}

/** ReviewPage is a change by file, with what the reviewer found and what the gates say. */
export function ReviewPage({ id }: { id: string }) {
  const path = "shown/" + id;
  const entry = useResource<Shown>(path);
  const task = useResource<Shown>(id.includes("-") ? "tasks/" + id.split("-")[0] : null);
  return (
    <Read entry={entry} path={path} what={id} heading={id}>
      {(shown) => <ChangeView id={id} shown={shown} task={shown.task ?? task.data?.task} />}
    </Read>
  );
}

function subjectFrom(shown: Shown, task: TaskDetail | undefined): Subject {
  const s = shown.subtask ?? (shown.run?.subtask ? task?.plan.find((p) => p.id === shown.run?.subtask) : undefined);
  if (s) return { task, gate: s.gate, review: s.review, findings: s.findings };
  return { task, gate: task?.gate ?? null, review: task?.review ?? null, of: task?.review_of, findings: task?.findings };
}

function ChangeView({ id, shown, task }: { id: string; shown: Shown; task: TaskDetail | undefined }) {
  const sub = subjectFrom(shown, task);
  const questions = (task?.needs_you ?? []).filter((q) => !shown.subtask || subjectOf(q) === id || !q.subtask);
  const [context, setContext] = useState("");
  const diffPath = `diffs/${id}${context ? "?context=" + context : ""}`;
  const asked = useResource<Patch>(diffPath);
  const last = useRef(asked);
  if (asked.data || asked.problem) last.current = asked;
  const diff = asked.data || asked.problem ? asked : last.current; // more lines take a moment
  const narrow = useNarrow();
  const [draft, setDraft] = useDraft(draftOf.comments(id));
  const written = useMemo(() => readComments(draft), [draft]);
  const set = useCallback(
    (place: string, text: string) => {
      const next = readComments(readDraft(draftOf.comments(id)));
      if (text) next.set(place, text);
      else next.delete(place);
      setDraft(writeComments(next));
    },
    [id, setDraft],
  );
  const comments: Comments = { of: written, set };
  const state = shown.task ? taskState(shown.task) : shown.subtask ? subtaskState(shown.subtask) : shown.run ? runState(shown.run) : null;
  const title = shown.task ? titleOf(shown.task.instruction) : (shown.subtask?.title ?? (shown.run ? `${shown.run.role} of ${shown.run.subtask || shown.run.task}` : ""));
  const files = (
    <div key="files" className="stack">
      <Read
        entry={diff}
        path={diffPath}
        what="the diff"
        missing={
          <>
            This version of the company gives no diffs to a page. On a terminal, <code>company diff {id}</code> shows it.
          </>
        }
      >
        {(p) => <Changes of={`${task?.project.id ?? ""} ${id}`} p={p} findings={sub.review?.findings ?? []} comments={comments} context={context} setContext={setContext} />}
      </Read>
    </div>
  );
  const side = (
    <div key="side" className="stack">
      {/* A diff that comes after the buttons would move them away from under the hand. */}
      {diff.data || diff.problem ? <Decide key={questionOf(questions)?.id} id={id} questions={questions} task={task} written={written} clear={() => setDraft("")} /> : null}
      <Panel title="Review">
        <ReviewView review={sub.review} of={sub.of} all={sub.findings} atLines />
      </Panel>
      <Panel title="Gates">
        <GateView gate={sub.gate} />
      </Panel>
      {shown.task && shown.task.plan.length > 1 ? (
        <Panel title="By subtask" bare>
          {shown.task.plan.map((s) => (
            <A key={s.id} className="part-row" to={"/review/" + s.id} data-row>
              <span className="mono muted">{s.id}</span>
              <span>
                <Badge state={subtaskState(s)} />
              </span>
              <span className="what cut">{escapeLine(s.title)}</span>
              <span />
            </A>
          ))}
        </Panel>
      ) : null}
    </div>
  );
  return (
    <div className="stack">
      <div className="row spread">
        <h1>
          <span className="muted">Review</span> <span className="mono">{id}</span> {escapeLine(title)}
        </h1>
        <div className="row">
          {state ? <Badge state={state} /> : null}
          <A className="button" to={shown.run ? runPath(id) : shown.subtask ? `${taskPath(shown.subtask.task)}?s=${id}` : taskPath(id)}>
            {shown.run ? "The run" : shown.subtask ? "The subtask" : "The task"}
          </A>
        </div>
      </div>
      <div className="columns side-right">{narrow ? [side, files] : [files, side]}</div>
    </div>
  );
}

const manyFiles = 300; // that are drawn at once

const contexts = [
  { lines: "", text: "3 lines around" },
  { lines: "20", text: "20 lines around" },
  { lines: "100000", text: "whole files" },
];

interface ChangesParts {
  of: string;
  p: Patch;
  findings: Finding[];
  comments: Comments;
  context: string;
  setContext: (lines: string) => void;
}

function Changes({ of, p, findings, comments, context, setContext }: ChangesParts) {
  const files = useMemo(() => parseDiff(p.patch), [p.patch]);
  const placed = useMemo(() => placeFindings(files, findings), [files, findings]);
  const folded = useMemo(() => foldFiles(files), [files]);
  const [most, setMost] = useState(manyFiles);
  const narrow = useNarrow();
  const [wide, setWide] = useState(readSplit);
  const [seen, setSeen] = useState(() => seenFiles(of, files));
  useEffect(() => setSeen(seenFiles(of, files)), [of, files]);
  const see = (file: DiffFile, on: boolean) => {
    noteSeen(of, file, on);
    setSeen(seenFiles(of, files));
  };
  const found = new Set(findings.map((f) => f.file));
  const shown = files.filter((f, i) => i < most || found.has(f.path));
  return (
    <div className="stack">
      <Panel
        title={p.stat || formatCount(files.length, "file")}
        bare
        aside={
          <span className="row small muted">
            {files.length > 0 ? <span className="num" data-testid="seen-count">{`${seen.size} of ${files.length} seen`}</span> : null}
            <label>
              <span className="hidden-text">Unchanged lines around each change</span>
              <select value={context} onChange={(e) => setContext(e.target.value)} data-testid="context">
                {contexts.map((c) => (
                  <option key={c.lines} value={c.lines}>
                    {c.text}
                  </option>
                ))}
              </select>
            </label>
            {narrow ? null : (
              <label className="check">
                <input
                  type="checkbox"
                  checked={wide}
                  onChange={(e) => {
                    setWide(e.target.checked);
                    keepSplit(e.target.checked);
                  }}
                  data-testid="side-by-side"
                />{" "}
                side by side
              </label>
            )}
            <span>
              <code>{shortOID(p.from)}</code> to <code>{shortOID(p.to)}</code>
            </span>
          </span>
        }
      >
        {(p.notes ?? []).map((n, i) => (
          <p key={i} className="stale">
            {escapeLine(n)}
          </p>
        ))}
        {p.truncated ? <p className="stale">The diff is cut: company diff {p.of} shows all of it.</p> : null}
        {files.length === 0 ? <Empty>Nothing is changed yet.</Empty> : null}
        <ul className="file-list">
          {shown.map((f) => (
            <li key={f.path}>
              <a href={"#file-" + f.path} onClick={(e) => { e.preventDefault(); document.getElementById("file-" + f.path)?.scrollIntoView(); }}>
                <span className="mono cut">
                  {escapeLine(f.path)}
                  {seen.has(f.path) ? <span className="ink-good"> ✓ seen</span> : null}
                </span>
                <span className="num small">
                  <span className="plus">+{f.added}</span> <span className="minus">−{f.removed}</span>
                </span>
              </a>
            </li>
          ))}
        </ul>
      </Panel>
      {placed.apart.length > 0 ? (
        <Panel title="Findings beside the lines below">
          <div className="stack tight">
            {placed.apart.map((f, i) => (
              <FindingBox key={i} f={f} />
            ))}
          </div>
        </Panel>
      ) : null}
      {shown.map((f) => (
        // One that is folded with more lines around it is another one: it starts again, folded.
        <FileDiff key={`${folded.has(f.path)} ${f.path}`} file={f} findings={placed.at} comments={comments} folded={folded.has(f.path)} split={wide && !narrow} seen={seen.has(f.path)} see={see} />
      ))}
      {files.length > shown.length ? (
        <button onClick={() => setMost(most + manyFiles)} data-testid="more-files">
          Show more files: {formatCount(files.length - shown.length, "file")} left
        </button>
      ) : null}
    </div>
  );
}

/** joinComments is the comments at lines as words for a worker. */
function joinComments(written: Map<string, string>, words: string): string {
  return [words.trim(), ...[...written].map(([at, text]) => `${at}: ${text}`)].filter((s) => s).join("\n");
}

/** questionOf is the question that a change is decided by: one that takes words, else the first. */
const questionOf = (all: Approval[]): Approval | undefined => all.find((q) => q.options.some((o) => o.name === "reject" && takesWords(o))) ?? all[0];

function Decide({ id, questions, task, written, clear }: { id: string; questions: Approval[]; task: TaskDetail | undefined; written: Map<string, string>; clear: () => void }) {
  const q = questionOf(questions);
  const [words, setWords] = useDraft(draftOf.words(q?.id ?? ""));
  const [busy, setBusy] = useState(false);
  const approve = q?.options.find((o) => o.name === "approve");
  if (q && approve) {
    const reject = q.options.find((o) => o.name === "reject");
    const send = async (o: Option) => {
      setBusy(true);
      const sent = await sendAnswer(q, { option: o.name, text: takesWords(o) ? joinComments(written, words) : "" });
      setBusy(false);
      if (sent) {
        setWords("");
        clear();
      }
    };
    if (q.options.length === 2 && reject && takesWords(reject)) {
      return (
        <section className="panel" data-testid="decide">
          <header>
            <h2>
              <span className="mono ink-need">! {q.id}</span> your decision
            </h2>
          </header>
          <div className="body stack">
            <div className="wrap">{escapeLine(q.question)}</div>
            <label className="field">
              Your words
              <textarea value={words} onChange={(e) => setWords(e.target.value)} />
              <span className="hint">{written.size > 0 ? `${formatCount(written.size, "comment")} at lines go along` : "a click on a line number comments on it; by key: Tab to one, ↑ ↓, Enter"}</span>
            </label>
            <div className="row">
              <button className="primary" disabled={busy} onClick={() => void send(approve)} data-testid="approve">
                Approve
              </button>
              <button disabled={busy || joinComments(written, words) === ""} onClick={() => void send(reject)} data-testid="request-changes">
                Request changes
              </button>
            </div>
            <div className="small muted">
              approve: {escapeLine(approve.means)}; changes: {escapeLine(reject.means)}
            </div>
          </div>
        </section>
      );
    }
    return <QuestionCard q={q} />;
  }
  if (task?.pr?.state === "open") {
    return (
      <section className="panel" data-testid="decide">
        <header>
          <h2>
            <A to={pullPath(task.pr.task)}>Pull request #{task.pr.number}</A> is {task.pr.state}
          </h2>
        </header>
        <div className="body stack">
          <p className="small muted">It is merged by a person, on the forge or with company pr merge. Changes are a task that follows it.</p>
          {written.size > 0 ? <p className="small">{formatCount(written.size, "comment")} at lines go along.</p> : null}
          <button
            data-testid="request-changes"
            onClick={() => {
              const form = draftOf.instruction(task.id); // it may hold words of an earlier visit
              keepDraft(form, joinComments(written, readDraft(form)));
              clear();
              goTo("/submit?follows=" + task.id);
            }}
          >
            Request changes of {id.includes("-") ? id : "it"}
          </button>
        </div>
      </section>
    );
  }
  return null;
}
