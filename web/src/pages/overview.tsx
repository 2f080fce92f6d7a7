import { useState } from "react";
import { countWork, doingText, formatAge, formatCount, formatTokens, formatUSD, holdTexts, shortCost, taskState, whoText } from "../lib/format.ts";
import { countWaiting } from "../lib/pulls.ts";
import { pullPath, runPath, taskPath } from "../lib/router.ts";
import { escapeLine, titleOf } from "../lib/text.ts";
import { subjectOf } from "../lib/actions.ts";
import type { Agents, Overview, Task, TaskList } from "../types.ts";
import { FeedList } from "../ui/feedlist.tsx";
import { useFeed, useNarrow, useQuery, useResource } from "../ui/hooks.ts";
import { A, Age, Badge, Bar, Empty, Panel, Read } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";

export function OverviewPage() {
  const entry = useResource<Overview>("overview");
  return (
    <>
      <h1 className="hidden-text">Overview</h1>
      <Read entry={entry} path="overview" what="the office">
        {(o) => (
          <div className="stack">
            <NeedsStrip o={o} />
            <TasksPanel o={o} />
            <div className="columns">
              <FeedPanel />
              <WorkersPanel o={o} />
            </div>
          </div>
        )}
      </Read>
    </>
  );
}

const mostPulls = 5; // that stand on the overview
const mostQuestions = 10;

function NeedsStrip({ o }: { o: Overview }) {
  if (countWaiting(o) + o.resting.length === 0) {
    return (
      <div className="calm-strip" data-testid="needs-you">
        <span className="ink-good" aria-hidden="true">
          ✓{" "}
        </span>
        Nothing waits for you.
      </div>
    );
  }
  return (
    <section className="needs" data-testid="needs-you" aria-label="Needs you">
      <h2>Needs you</h2>
      <ul className="stack tight">
        {o.needs_you.slice(0, mostQuestions).map((q) => (
          <li key={q.id}>
            <span className="mono ink-need">! {subjectOf(q)}</span>
            <span className="text wrap">{escapeLine(q.question)}</span>
            <span className="muted small">
              <Age since={q.asked} />
            </span>
            <A className="button" to={"/inbox?q=" + q.id} data-row data-testid={"answer-" + q.id}>
              Answer
            </A>
          </li>
        ))}
        {o.needs_you.length > mostQuestions ? (
          <li>
            <A to="/inbox">and {formatCount(o.needs_you.length - mostQuestions, "more question")}</A>
          </li>
        ) : null}
        {o.resting.slice(0, mostQuestions).map((r, i) => (
          <li key={"rest" + i}>
            <span className="mono ink-warn">~ {r.subtask || r.task || "office"}</span>
            <span className="text">
              {escapeLine(r.why)} <span className="muted">(</span>
              <code>{escapeLine(r.next)}</code>
              <span className="muted">)</span>
            </span>
            {r.task ? (
              <A className="button" to={taskPath(r.task)}>
                Look
              </A>
            ) : null}
          </li>
        ))}
        {o.resting.length > mostQuestions ? (
          <li>
            <span className="muted">and {o.resting.length - mostQuestions} more that rest: <code>company status</code></span>
          </li>
        ) : null}
        {o.open_prs.slice(0, mostPulls).map((p) => (
          <li key={"pr" + p.task}>
            <span className="mono ink-need">#{p.number} {p.task}</span>
            <span className="text wrap">
              waits for your review: <span className="muted">{escapeLine(p.title)}</span>
            </span>
            <A className="button" to={pullPath(p.task)} data-row data-testid={"review-pr-" + p.number} aria-label={`Review #${p.number}`}>
              Review
            </A>
          </li>
        ))}
        {o.open_prs.length > mostPulls ? (
          <li>
            <A to="/prs">and {o.open_prs.length - mostPulls} more pull requests</A>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

const states = ["", "open", "ended", "awaiting_input", "waiting", "queued", "executing", "completed", "failed", "cancelled", "paused", "resting"];
const stateNames: Record<string, string> = { "": "open and newest", awaiting_input: "needs you", executing: "working", completed: "done" };

function TasksPanel({ o }: { o: Overview }) {
  const [state, setState] = useQuery("state");
  const [text, setText] = useQuery("q");
  const [all, setAll] = useQuery("all");
  const listed = state !== "" || all === "1";
  const [limit, setLimit] = useState(200);
  const path = listed ? `tasks?limit=${limit}${state ? "&state=" + encodeURIComponent(state) : ""}` : null;
  const list = useResource<TaskList>(path);
  const tasks = listed ? (list.data?.tasks ?? []) : o.tasks;
  const needle = text.toLowerCase();
  const shown = needle === "" ? tasks : tasks.filter((t) => [t.id, taskState(t).text, t.instruction, t.project.path, t.tags.join(" "), t.pr ? `#${t.pr.number} ${t.pr.state}` : ""].join(" ").toLowerCase().includes(needle));
  return (
    <Panel
      id="tasks"
      title="Tasks"
      bare
      aside={
        <div className="row">
          <label>
            <span className="hidden-text">Filter tasks by text</span>
            <input data-filter data-testid="task-filter" type="search" placeholder="Filter  /" value={text} onChange={(e) => setText(e.target.value)} />
          </label>
          <label>
            <span className="hidden-text">State</span>
            <select value={state} onChange={(e) => setState(e.target.value)} data-testid="task-state">
              {states.map((s) => (
                <option key={s} value={s}>
                  {stateNames[s] ?? s}
                </option>
              ))}
            </select>
          </label>
          <A className="button" to="/submit">
            New task
          </A>
        </div>
      }
    >
      {listed && list.problem && !list.data ? <Empty>{list.problem.message}</Empty> : null}
      <TaskRows tasks={shown} />
      {shown.length === 0 && (!listed || list.data) ? (
        <Empty>
          {needle || state ? "No task fits this filter." : (
            <>
              No task yet. <A to="/submit">Submit the first</A>, or on a terminal <code>company submit "…"</code>
            </>
          )}
        </Empty>
      ) : null}
      {!listed && o.hidden_tasks ? (
        <p className="empty">
          <button onClick={() => setAll("1")}>Show {formatCount(o.hidden_tasks, "task")} that ended before</button>
        </p>
      ) : null}
      {listed && list.data && list.data.more > 0 ? (
        <p className="empty">
          <button onClick={() => setLimit(limit + 500)}>Show more: {list.data.more} older</button>
        </p>
      ) : null}
    </Panel>
  );
}

function TaskRows({ tasks }: { tasks: Task[] }) {
  const narrow = useNarrow();
  return (
    <div role="table" aria-label="Tasks" aria-rowcount={tasks.length + 1}>
      {tasks.length > 0 ? (
        <div className="task-row titles" role="row">
          {["Task", "State", "Merged", "Cost", "Time", "PR", "What"].map((t) => (
            <span key={t} role="columnheader">
              {t}
            </span>
          ))}
        </div>
      ) : null}
      <Rows items={tasks} height={narrow ? 90 : 38} role="rowgroup">
        {(t) => <TaskRow key={t.id} t={t} />}
      </Rows>
    </div>
  );
}

function TaskRow({ t }: { t: Task }) {
  const state = taskState(t);
  const waits = holdTexts(t).join("; ");
  const part = t.subtasks > 0 ? t.merged / t.subtasks : 0;
  return (
    <div role="row" className="task-row" data-testid={"task-" + t.id}>
        <span role="cell" data-cell="id" className="mono">
          <A className="cover" to={taskPath(t.id)} data-row aria-label={`${t.id}: ${titleOf(t.instruction)}`}>
            {t.id}
          </A>
        </span>
        <span role="cell" data-cell="state">
          <Badge state={state} />
        </span>
        <span role="cell" data-cell="done" className="progress">
          {t.subtasks > 0 && !t.dry_run ? (
            <>
              <Bar part={part} tone={part === 1 ? "done" : ""} label={`${t.merged} of ${t.subtasks} merged`} />
              <span className="num small">
                {t.merged}/{t.subtasks}
              </span>
            </>
          ) : (
            <span className="muted">-</span>
          )}
        </span>
        <span role="cell" data-cell="cost" className="num">
          {shortCost(t.cost_micro_usd, t.tokens)}
        </span>
        <span role="cell" data-cell="age" className="muted">
          {t.ended ? <span className="num">{formatAge(t.duration_ms)}</span> : <Age since={t.submitted} />}
        </span>
        <span role="cell" data-cell="pr" className="num">
          {t.pr ? (
            <A className="above" to={pullPath(t.pr.task)} data-testid={"pr-of-" + t.id}>
              #{t.pr.number} {t.pr.state}
            </A>
          ) : (
            <span className="muted">-</span>
          )}
        </span>
        <span role="cell" data-cell="what" className="cut" title={titleOf(t.instruction) + (waits ? `: ${waits}` : "")}>
          {titleOf(t.instruction)}
          {waits ? <span className="muted"> ({escapeLine(waits)})</span> : null}
          {t.reason && (t.status === "failed" || t.status === "cancelled") ? <span className="muted"> ({escapeLine(t.reason)})</span> : null}
        </span>
    </div>
  );
}

function FeedPanel() {
  const items = useFeed();
  return (
    <Panel id="feed-panel" title="Feed" bare>
      {items.length === 0 ? <Empty>Nothing has happened here yet.</Empty> : <div className="feed-box" tabIndex={0} role="region" aria-label="Feed"><FeedList items={items} /></div>}
    </Panel>
  );
}

function WorkersPanel({ o }: { o: Overview }) {
  const agents = useResource<Agents>("agents");
  const a = agents.data;
  const idle = (a?.agents ?? []).filter((x) => !x.run).map((x) => x.agent);
  const reserved = new Map((a?.agents ?? []).filter((x) => x.run).map((x) => [x.run, x]));
  return (
    <Panel id="workers" title="At work" bare aside={a ? <span className="muted small num">{`${o.running.filter((r) => r.role === "worker").length} of ${formatCount(a.workers, "worker")}`}</span> : null}>
      {o.running.map((r) => {
        const may = reserved.get(r.id);
        return (
          <A key={r.id} className="worker-row" to={runPath(r.id)} data-row data-testid={"run-" + r.id}>
            <span>{escapeLine(whoText(r))}</span>
            <span className="mono muted">{r.subtask || r.task}</span>
            <span className="cut">{escapeLine(r.title ? `${r.title}: ${doingText(r)}` : doingText(r))}</span>
            <span className="muted num" title={may ? `may cost at most ${may.reserved_micro_usd != null ? formatUSD(may.reserved_micro_usd) : formatTokens(may.reserved_tokens)}` : undefined}>
              {r.claimed ? <Age since={r.claimed} /> : "-"}
            </span>
          </A>
        );
      })}
      {o.steps.map((s) => (
        <A key={"step" + (s.subtask ?? s.task)} className="worker-row" to={taskPath(s.task)} data-row>
          <span className="muted">company</span>
          <span className="mono muted">{s.subtask || s.task}</span>
          <span className="cut">{escapeLine(s.doing)}</span>
          <span className="muted">
            <Age since={s.since} />
          </span>
        </A>
      ))}
      {!o.open ? <Empty>Nobody works here now. <code>company serve</code> opens the office.</Empty> : null}
      {o.open && o.running.length + o.steps.length === 0 ? <Empty>{countWork(o).waiting === 0 ? "Nobody has anything to do." : "Nobody is at work: the list of tasks says what they wait for."}</Empty> : null}
      {o.open && idle.length > 0 && o.running.length + o.steps.length > 0 ? <p className="empty short small">{idle.length > 6 ? formatCount(idle.length, "worker") : escapeLine(idle.join(", "))} idle{a && a.waiting > 0 ? `, ${formatCount(a.waiting, "run")} waiting for a worker` : ""}</p> : null}
    </Panel>
  );
}
