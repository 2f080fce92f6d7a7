import { useState } from "react";
import { hasDiff, optionName, sendAnswer, subjectOf, takesWords } from "../lib/actions.ts";
import { draftOf } from "../lib/drafts.ts";
import { parseAmount } from "../lib/format.ts";
import { countWaiting } from "../lib/pulls.ts";
import { pullPath, reviewPath, taskPath } from "../lib/router.ts";
import { groupQuestions } from "../lib/several.ts";
import { escapeLine } from "../lib/text.ts";
import type { Approval, Option, Overview, PullRequest } from "../types.ts";
import { useDraft, useQuery, useResource } from "../ui/hooks.ts";
import { A, Age, Block, Empty, Panel, Read } from "../ui/parts.tsx";
import { Portion } from "../ui/portion.tsx";
import { SeveralAnswers } from "../ui/several.tsx";

export const kindNames: Record<string, string> = {
  plan: "the plan", merge: "a merge", merge_conflict: "a conflict of merges", protected: "a merge of protected files", pr: "the pull request", no_gates: "work without gates", budget: "the budget",
  clarification: "a question", blocked: "a stuck subtask", review: "the review", gates: "red gates", unread: "a check that cannot be read", red_green: "a missing test",
  trouble: "trouble outside", held: "a held push", day_budget: "the day's budget", office_budget: "the office's budget", dependency: "a dependency",
};

export function InboxPage() {
  const entry = useResource<Overview>("overview");
  const [at] = useQuery("q");
  return (
    <div className="stack">
      <h1>Inbox</h1>
      <Read entry={entry} path="overview" what="the questions">
        {(o) =>
          countWaiting(o) === 0 ? (
            <Panel title="Questions" bare>
              <Empty>Nothing waits for you. Questions, approvals, used up budgets and pull requests come here.</Empty>
            </Panel>
          ) : (
            <>
              {groupQuestions(o.needs_you).map((g) => (
                <SeveralAnswers key={g.key} group={g} name={kindNames[g.kind] ?? g.kind.replaceAll("_", " ")} />
              ))}
              <QuestionCards questions={[...o.needs_you].sort((a, b) => (a.id === at ? -1 : b.id === at ? 1 : 0))} />
              {o.open_prs.length > 0 ? (
                <Panel title="Pull requests that wait for your review" bare id="waiting-prs">
                  <Portion items={o.open_prs} most={100} what="pulls">
                    {(shown) => shown.map((p) => <WaitingPull key={p.task} p={p} />)}
                  </Portion>
                </Panel>
              ) : null}
            </>
          )
        }
      </Read>
    </div>
  );
}

/** QuestionCards asks questions, the first of many. */
export const QuestionCards = ({ questions }: { questions: Approval[] }) => (
  <Portion items={questions} most={30} what="questions">
    {(shown) => shown.map((q) => <QuestionCard key={q.id} q={q} />)}
  </Portion>
);

function WaitingPull({ p }: { p: PullRequest }) {
  return (
    <div className="part-row" data-testid={"waiting-pr-" + p.number}>
      <span className="mono ink-need">#{p.number}</span>
      <A to={taskPath(p.task)} className="mono">
        {p.task}
      </A>
      <span className="what cut">{escapeLine(p.title)}</span>
      <A className="button" to={pullPath(p.task)} data-row aria-label={`Review #${p.number}`}>
        Review
      </A>
    </div>
  );
}

/** QuestionCard asks one question, and takes its answer in place. */
export function QuestionCard({ q }: { q: Approval }) {
  const [text, setText] = useDraft(draftOf.words(q.id));
  const [amount, setAmount] = useState("");
  const [busy, setBusy] = useState(false);
  const anyWords = q.options.some(takesWords);
  const anyAmount = q.options.some((o) => o.input === "amount");
  const raise = amount.trim() === "" ? undefined : parseAmount(amount);
  const answer = async (o: Option) => {
    setBusy(true);
    const sent = await sendAnswer(q, { option: o.name, text: takesWords(o) ? text.trim() : "", raise: o.input === "amount" ? (raise ?? undefined) : undefined });
    setBusy(false);
    if (sent) setText("");
  };
  return (
    <section className="panel" data-testid={"question-" + q.id} aria-labelledby={"q-" + q.id}>
      <header>
        <h2 id={"q-" + q.id}>
          <span className="mono ink-need">! {q.id}</span> {kindNames[q.kind] ?? q.kind.replaceAll("_", " ")} of {q.task ? <A to={taskPath(q.task) + (q.subtask ? "?s=" + q.subtask : "")}>{subjectOf(q)}</A> : subjectOf(q)}
        </h2>
        <span className="row">
          {hasDiff(q) ? (
            <A className="button" to={reviewPath(subjectOf(q))}>
              Diff and evidence
            </A>
          ) : null}
          <span className="muted small">
            asked <Age since={q.asked} /> ago
          </span>
        </span>
      </header>
      <div className="body stack">
        <Block>{q.question}</Block>
        {q.details && q.details.length > 0 ? (
          <ul className="small stack tight">
            {q.details.map((d, i) => (
              <li key={i} className="wrap">
                {escapeLine(d)}
              </li>
            ))}
          </ul>
        ) : null}
        {anyWords ? (
          <label className="field">
            Your words
            <textarea value={text} onChange={(e) => setText(e.target.value)} data-testid={"words-" + q.id} />
          </label>
        ) : null}
        {anyAmount ? (
          <label className="field">
            Raise the cap by
            <input value={amount} onChange={(e) => setAmount(e.target.value)} placeholder="the usual amount" aria-invalid={raise === null} />
            <span className={raise === null ? "ink-bad small" : "hint"}>{raise === null ? "this is not an amount: " : ""}5usd, 2.50usd, 100ktokens or 2Mtokens; empty: as much as the config gives a task</span>
          </label>
        ) : null}
        <div className="stack tight">
          {q.options.map((o, i) => (
            <div key={o.name} className="row">
              <button
                className={i === 0 ? "primary" : ""}
                data-row
                data-testid={`${o.name}-${q.id}`}
                disabled={busy || (o.input === "needs_words" && text.trim() === "") || (o.input === "amount" && raise === null)}
                onClick={() => void answer(o)}
              >
                {optionName(o)}
              </button>
              <span className="small muted">{escapeLine(o.means)}</span>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}
