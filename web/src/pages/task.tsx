import { useEffect, useMemo, useState } from "react";
import { askCancel, askPause, askRetry, sendCommand } from "../lib/actions.ts";
import { describeAttachment } from "../lib/attach.ts";
import { awaitedText, failureText, formatAge, formatCost, formatTokens, formatUSD, holdTexts, logsOf, parseAmount, shortOID, startedAfter, taskState } from "../lib/format.ts";
import { followTask, isStep } from "../lib/live.ts";
import { allRuns } from "../lib/moments.ts";
import { showSoon, type Shown as Drawn } from "../lib/paint.ts";
import { pullPath, reviewPath, runPath, setQuery, taskPath } from "../lib/router.ts";
import { escapeLine, escapeText, titleOf } from "../lib/text.ts";
import type { FeedItem, Shown, TaskDetail } from "../types.ts";
import { CostOverTime } from "../ui/plots.tsx";
import { Checks, GateView } from "../ui/checks.tsx";
import { askUser } from "../ui/dialog.tsx";
import { tell } from "../ui/notices.tsx";
import { FeedList } from "../ui/feedlist.tsx";
import { Pictures } from "../ui/pictures.tsx";
import { useAddress, useQuery, useResource } from "../ui/hooks.ts";
import { A, Age, Badge, Bar, Empty, Out, Panel, Read, Skeleton, Tabs, When } from "../ui/parts.tsx";
import { QuestionCards } from "./inbox.tsx";
import { PlanTab } from "./taskplan.tsx";
import { Timeline } from "./tasktimeline.tsx";

export function TaskPage({ id }: { id: string }) {
  const path = "tasks/" + id;
  const entry = useResource<Shown>(path);
  return (
    <Read entry={entry} path={path} what={id} heading={id}>
      {(shown) => (shown.task ? <TaskView t={shown.task} /> : <Empty>{id} is not a task.</Empty>)}
    </Read>
  );
}

function TaskView({ t }: { t: TaskDetail }) {
  const [tab] = useQuery("tab");
  const [selected] = useQuery("s");
  const address = useAddress();
  const now = tab || "plan";
  const href = (change: Record<string, string>) => address.split("?")[0] + setQuery("?" + (address.split("?")[1] ?? ""), change);
  return (
    <div className="stack">
      <TaskHead t={t} />
      <QuestionCards questions={t.needs_you} />
      <Tabs
        label="Parts of the task"
        now={now}
        href={(id) => href({ tab: id === "plan" ? "" : id })}
        tabs={[
          { id: "plan", text: `Plan ${t.subtasks ? `${t.merged}/${t.subtasks}` : ""}` },
          { id: "time", text: "Timeline" },
          { id: "feed", text: "Feed" },
          { id: "cost", text: "Cost" },
          { id: "gates", text: "Gates" },
          { id: "details", text: "Details" },
        ]}
      />
      {now === "plan" ? <PlanTab t={t} selected={selected} href={href} /> : null}
      {now === "time" ? <Timeline t={t} selected={selected} /> : null}
      {now === "feed" ? <TaskFeed id={t.id} /> : null}
      {now === "cost" ? <CostTab t={t} /> : null}
      {now === "gates" ? (
        <div className="halves">
          <Panel title="Gates of the whole">
            <GateView gate={t.gate} />
          </Panel>
          <Panel title="On the base">{t.baseline.length > 0 ? <Checks checks={t.baseline} /> : <Empty>No verdict yet.</Empty>}</Panel>
        </div>
      ) : null}
      {now === "details" ? <Details t={t} /> : null}
    </div>
  );
}

function TaskHead({ t }: { t: TaskDetail }) {
  const over = t.ended !== null;
  const cap = t.holds;
  const part = cap?.micro_usd != null && t.cost_micro_usd != null ? t.cost_micro_usd / cap.micro_usd : cap?.tokens ? t.tokens / cap.tokens : 0;
  return (
    <section className="panel" data-testid="task-head">
      <div className="body stack">
        <div className="row spread">
          <div className="row">
            <span className="mono muted">{t.id}</span>
            <Badge state={taskState(t)} />
            {over ? <span className="muted small num">took {formatAge(t.duration_ms)}{startedAfter(t)}</span> : <span className="muted small">for <Age since={t.submitted} /></span>}
          </div>
          <div className="row">
            {t.pr || t.plan.some((s) => s.head) ? (
              <A className="button" to={reviewPath(t.id)} data-testid="open-review">
                Review
              </A>
            ) : null}
            {!over ? (
              <button onClick={() => askPause(t)} data-testid="pause">
                {t.paused ? "Resume" : "Pause"}
              </button>
            ) : null}
            {!over ? <button onClick={() => askBudget(t)}>Raise the cap</button> : null}
            {t.status === "failed" || t.status === "cancelled" ? (
              <button className="primary" onClick={() => askRetry(t)} data-testid="retry">
                Reopen
              </button>
            ) : null}
            {t.dry_run && t.status === "completed" ? (
              <button className="primary" onClick={() => void sendCommand("work_on_plan", { Task: t.id }, `the plan of ${t.id} is worked on`, t.id)}>
                Work on this plan
              </button>
            ) : null}
            {t.pr?.state === "open" ? (
              <A className="button" to={"/submit?follows=" + t.id}>
                Follow up
              </A>
            ) : null}
            {!t.dry_run && (!over || t.pr?.state === "open") ? (
              <A className="button" to={"/submit?after=" + t.id} data-testid="task-after">
                Task after it
              </A>
            ) : null}
            {!over ? (
              <button className="danger" onClick={() => askCancel(t)} data-testid="cancel">
                Cancel
              </button>
            ) : null}
          </div>
        </div>
        <h1>{titleOf(t.instruction)}</h1>
        {t.reason ? (
          <p className={t.status === "failed" ? "ink-bad" : "muted"}>
            why: {escapeLine(t.reason)}
          </p>
        ) : null}
        {t.waits_for && t.waits_for.length > 0 ? (
          <p className="muted" data-testid="waits-for">
            It begins when these are merged:{" "}
            {t.waits_for.map((a, i) => (
              <span key={a.task}>
                {i > 0 ? ", " : ""}
                <A to={taskPath(a.task)}>{a.task}</A> ({awaitedText(a)})
              </span>
            ))}
          </p>
        ) : null}
        {holdTexts(t).map((text) => (
          <p key={text} className="muted" data-testid="waits">
            ~ {escapeLine(text)}
          </p>
        ))}
        {t.attachments && t.attachments.length > 0 ? (
          <>
            <p className="muted small wrap" data-testid="task-files">
              With {t.attachments.map((a) => `${escapeLine(a.name)} (${describeAttachment(a)})`).join(", ")}
            </p>
            <Pictures task={t.id} all={t.attachments} />
          </>
        ) : null}
        {Object.entries(t.failures).map(([key, f]) => (
          <p key={key} className="ink-bad small">
            ✗ {failureText(t, key, f)}: {escapeLine(f.error)}
            {logsOf(f.error) ? <> <A to={runPath(logsOf(f.error))}>Its conversation</A></> : null}
            {f.hint ? <span className="muted"> fix: {escapeLine(f.hint)}</span> : null}
          </p>
        ))}
        <div className="row small">
          <span>
            <span className="muted">branch </span>
            <code>{escapeLine(t.base ? `${t.base.branch} → ${t.integration_branch ?? ""}` : (t.integration_branch ?? "not yet"))}</code>
          </span>
          <span>
            <span className="muted">pull request </span>
            {t.pr ? (
              <A to={pullPath(t.pr.task)} data-testid="task-pr">
                #{t.pr.number} {t.pr.state}
              </A>
            ) : (
              "none yet"
            )}
          </span>
          <span className="row tight">
            <span className="muted">cost </span>
            <span className="num">{formatCost(t.cost_micro_usd, t.tokens)}</span>
            {part > 0 ? (
              <span style={{ width: 90 }}>
                <Bar part={part} tone={part >= 1 ? "full" : part >= 0.8 ? "near" : ""} label={`${Math.round(part * 100)} % of the cap`} />
              </span>
            ) : null}
            <span className="muted num">
              {cap?.micro_usd != null ? `of at most ${formatUSD(cap.micro_usd)}` : cap?.tokens != null ? `of at most ${formatTokens(cap.tokens)}` : ""}
            </span>
          </span>
          <span>
            {t.gate ? <span className="muted">shown by </span> : null}
            {escapeLine(t.evidence)}
          </span>
          {t.status === "completed" && !t.untested_why && t.unverified?.length ? (
            <span>
              <span className="muted">not verified: </span>
              {t.unverified.map((why) => escapeLine(why)).join("; ")}
            </span>
          ) : null}
          {t.deadline ? (
            <span>
              <span className="muted">due </span>
              <When at={t.deadline} />
            </span>
          ) : null}
        </div>
      </div>
    </section>
  );
}

function askBudget(t: TaskDetail): void {
  askUser({
    title: `Raise the cap of ${t.id}`,
    text: `It has cost ${formatCost(t.cost_micro_usd, t.tokens)} so far.`,
    confirm: "Raise it",
    ask: { label: "By", hint: "5usd, 2.50usd, 100ktokens or 2Mtokens", least: 1 },
    act: async (text) => {
      const by = parseAmount(text);
      if (by) await sendCommand("raise_budget", { Task: t.id, By: by }, `the cap of ${t.id} is raised by ${text}`, t.id);
      else {
        tell(`"${text}" is not an amount: amounts look like 5usd or 100ktokens`, true);
      }
    },
  });
}

function TaskFeed({ id }: { id: string }) {
  const [items, setItems] = useState<FeedItem[]>([]);
  const [done, setDone] = useState(false);
  useEffect(() => {
    const bySeq = new Map<number, FeedItem>();
    const shown: Drawn = { listeners: new Set([() => setItems([...bySeq.values()].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)).slice(-2000))]) };
    const take = (it: FeedItem) => {
      if (it.quiet || isStep(it.kind)) return;
      bySeq.set(it.seq ?? 0, it);
      showSoon(shown);
    };
    const stop = followTask(id, take, () => setDone(true));
    return () => {
      stop();
      shown.listeners.clear();
    };
  }, [id]);
  return (
    <Panel title="Feed of the task" bare>
      {items.length > 0 ? <div style={{ padding: "6px 0" }}><FeedList items={items} most={300} /></div> : done ? <Empty>Nothing has happened yet.</Empty> : <Skeleton what="the feed" />}
    </Panel>
  );
}

function CostTab({ t }: { t: TaskDetail }) {
  const runs = useMemo(() => allRuns(t), [t]);
  return (
    <Panel title="Cost over time" aside={t.cache ? <span className="muted small num">{t.cache.percent} % of the input was cached</span> : null}>
      <CostOverTime runs={runs} begin={t.submitted} cap={t.holds ?? null} />
    </Panel>
  );
}

function Details({ t }: { t: TaskDetail }) {
  return (
    <div className="halves">
      <Panel title="Task">
        <dl className="facts-list">
          <dt>project</dt>
          <dd className="mono">{escapeLine(t.project.path)}</dd>
          <dt>remote</dt>
          <dd className="mono">{escapeLine(t.project.remote ?? "none")}</dd>
          <dt>base</dt>
          <dd className="mono">{t.base ? `${escapeLine(t.base.branch)}@${shortOID(t.base.oid)}${t.base.dirty ? " (dirty)" : ""}` : "not found yet"}</dd>
          <dt>head</dt>
          <dd className="mono">{shortOID(t.head) || "-"}</dd>
          <dt>submitted</dt>
          <dd>
            <When at={t.submitted} />
          </dd>
          <dt>priority</dt>
          <dd>{t.priority}</dd>
          {t.tags.length > 0 ? (
            <>
              <dt>tags</dt>
              <dd>{escapeLine(t.tags.join(", "))}</dd>
            </>
          ) : null}
          {t.issue?.url ? (
            <>
              <dt>issue</dt>
              <dd>
                <Out url={t.issue.url}>{escapeLine(t.issue.url)}</Out>
              </dd>
            </>
          ) : null}
          {t.gates.map((g) => [
            <dt key={g.name}>{escapeLine(g.name)}</dt>,
            <dd key={g.name + "c"} className="mono">
              {escapeLine(g.command)}
            </dd>,
          ])}
        </dl>
      </Panel>
      <Panel title="Questions answered">
        {t.questions.length === 0 ? (
          <Empty>None was asked.</Empty>
        ) : (
          <ul className="stack small">
            {t.questions.map((q) => (
              <li key={q.id}>
                <span className="mono muted">{q.id}</span> <span className="wrap">{escapeText(q.question)}</span>
                <div>
                  <strong>{({ approve: "yes", reject: "no", answer: "answered", withdrawn: "not needed any more" } as Record<string, string>)[q.option ?? ""] ?? q.option}</strong> {escapeLine(q.text ?? "")}
                </div>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {t.dependencies.length > 0 ? (
        <Panel title="Dependencies added">
          <ul className="small mono">
            {t.dependencies.map((d, i) => (
              <li key={i}>{escapeLine([d.ecosystem, d.name, d.version].filter((x) => x).join(" "))}</li>
            ))}
          </ul>
        </Panel>
      ) : null}
    </div>
  );
}
