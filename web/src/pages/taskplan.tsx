import { lazy, Suspense } from "react";
import { askRetry, askTell, sendCommand } from "../lib/actions.ts";
import { formatTook, heldSince, runState, shortOID, subtaskState, whoText, doingText } from "../lib/format.ts";
import { reviewPath, runPath } from "../lib/router.ts";
import { escapeLine } from "../lib/text.ts";
import type { Run, Subtask, TaskDetail } from "../types.ts";
import { GateView, ReviewView } from "../ui/checks.tsx";
import { useQuery } from "../ui/hooks.ts";
import { A, Age, Badge, Block, Empty, Panel, Skeleton } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";

const PlanGraph = lazy(() => import("../ui/graph.tsx"));

/** PlanTab is the graph and the list of a task's subtasks, with one of them beside it. */
export function PlanTab({ t, selected, href }: { t: TaskDetail; selected: string; href: (change: Record<string, string>) => string }) {
  const [, setSelected] = useQuery("s");
  const sub = t.plan.find((s) => s.id === selected);
  if (t.plan.length === 0) {
    return (
      <Panel title="Plan" bare>
        <Empty>{t.ended ? "There is no plan." : "The manager plans; subtasks appear here."}</Empty>
        <RunList runs={t.runs} />
      </Panel>
    );
  }
  return (
    <div className="columns">
      <div className="stack">
        <Panel title="Order of the subtasks" bare aside={<span className="muted small">{escapeLine(t.plan_why ?? "")}</span>}>
          <Suspense fallback={<div className="graph"><Skeleton what="the graph" /></div>}>
            <PlanGraph plan={t.plan} selected={selected} onSelect={setSelected} />
          </Suspense>
        </Panel>
        <Panel title="Subtasks" bare id="subtasks">
          <Rows items={t.plan} height={35}>
          {(s) => (
            <A key={s.id} to={href({ s: s.id })} className="part-row" data-row aria-current={s.id === selected ? "true" : undefined} data-testid={"subtask-" + s.id}>
              <span className="mono muted">{s.id}</span>
              <span>
                <Badge state={subtaskState(s)} />
              </span>
              <span className="what cut">{escapeLine(s.title)}</span>
              <span className="muted small num">
                {(s.after ?? []).length > 0 ? "after " + (s.after ?? []).map((a) => a.split("-")[1]).join(", ") : `wave ${s.wave}`}
              </span>
            </A>
          )}
          </Rows>
          <RunList runs={t.runs} />
        </Panel>
      </div>
      {sub ? <SubtaskPanel s={sub} t={t} close={href({ s: "" })} /> : <TaskSide t={t} />}
    </div>
  );
}

function RunList({ runs }: { runs: Run[] }) {
  return (
    <>
      {runs.map((r) => (
        <A key={r.id} to={runPath(r.id)} className="part-row" data-row data-testid={"run-" + r.id}>
          <span className="muted cut" title={r.id}>{`${r.role} ${r.id.split(".").pop() ?? ""}`}</span>
          <span>
            <Badge state={runState(r)} />
          </span>
          <span className="what cut">{escapeLine(r.error || (r.ended ? r.summary : doingText(r)) || whoText(r))}</span>
          <span className="muted small num">{heldSince(r) ? <Age since={heldSince(r) ?? 0} /> : formatTook(r.duration_ms)}</span>
        </A>
      ))}
    </>
  );
}

function SubtaskPanel({ s, t, close }: { s: Subtask; t: TaskDetail; close: string }) {
  const working = s.runs.some((r) => r.role === "worker" && r.claimed && !r.ended);
  return (
    <section className="panel" data-testid="subtask-panel">
      <header>
        <h2>
          <span className="mono muted">{s.id}</span> {escapeLine(s.title)}
        </h2>
        <A className="button" to={close} aria-label="close the subtask">
          ×
        </A>
      </header>
      <div className="body stack">
        <div className="row">
          <Badge state={subtaskState(s)} />
          <A className="button" to={reviewPath(s.id)}>
            Diff and review
          </A>
          {working ? <button onClick={() => askTell(s.id, t.id)}>Tell the worker</button> : null}
          {!t.ended ? (
            <button onClick={() => void sendCommand("pause_subtask", { Subtask: s.id, Off: s.paused }, s.paused ? `${s.id} goes on` : `${s.id} is paused`, t.id)}>{s.paused ? "Resume" : "Pause"}</button>
          ) : null}
          {t.status === "failed" || t.status === "cancelled" ? <button onClick={() => askRetry(t, s.id)} data-testid="retry-subtask">Retry from here</button> : null}
        </div>
        {s.reason && s.status !== "completed" ? <p className="small ink-bad">why: {escapeLine(s.reason)}</p> : null}
        <dl className="facts-list">
          <dt>order</dt>
          <dd>{(s.after ?? []).length > 0 ? "after " + (s.after ?? []).join(", ") : `wave ${s.wave}`}</dd>
          {s.branch ? (
            <>
              <dt>branch</dt>
              <dd className="mono">
                {escapeLine(s.branch)}@{shortOID(s.head)}
              </dd>
            </>
          ) : null}
          {s.model ? (
            <>
              <dt>model</dt>
              <dd>{escapeLine(s.model)}</dd>
            </>
          ) : null}
          <dt>writes</dt>
          <dd className="mono">{escapeLine((s.write_set ?? []).join(", "))}</dd>
        </dl>
        <h3>Runs</h3>
        <div className="panel">{s.runs.length > 0 ? <RunList runs={s.runs} /> : <Empty>None yet.</Empty>}</div>
        <h3>Ticket</h3>
        <Block className="small">{s.description}</Block>
        <ul className="stack tight small">
          {(s.acceptance_criteria ?? []).map((c, i) => (
            <li key={i}>
              <span className="muted">must: </span>
              {escapeLine(c)}
            </li>
          ))}
        </ul>
        {s.changes.length > 0 ? (
          <>
            <h3>Changed files</h3>
            <ul className="small mono">
              {s.changes.map((c) => (
                <li key={c.path} className="wrap">
                  <span className="muted">{c.action} </span>
                  {escapeLine(c.path)}
                </li>
              ))}
            </ul>
          </>
        ) : null}
        <h3>Gates</h3>
        <GateView gate={s.gate} />
        <h3>Review</h3>
        <ReviewView review={s.review} all={s.findings} />
      </div>
    </section>
  );
}

function TaskSide({ t }: { t: TaskDetail }) {
  return (
    <div className="stack">
      <Panel title="Instruction">
        <Block className="small">{t.instruction}</Block>
      </Panel>
      {t.decisions.length > 0 ? (
        <Panel title="Decided where the instruction is open">
          <ul className="stack tight small">
            {t.decisions.map((d, i) => (
              <li key={i}>
                {escapeLine(d.text)} <span className="muted">({escapeLine(d.by)})</span>
              </li>
            ))}
          </ul>
        </Panel>
      ) : null}
      <Panel title="Review of the whole">
        <ReviewView review={t.review} of={t.review_of} all={t.findings} />
      </Panel>
    </div>
  );
}
