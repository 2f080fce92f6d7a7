import { useEffect, useState } from "react";
import { clock } from "../lib/api.ts";
import { formatCount, formatTook, heldSince, runState, shortCost, whoText } from "../lib/format.ts";
import { followTask } from "../lib/live.ts";
import { allRuns, partsOf, RunMoments, type Moments } from "../lib/moments.ts";
import { showSoon, type Shown as Drawn } from "../lib/paint.ts";
import { runPath } from "../lib/router.ts";
import { escapeLine } from "../lib/text.ts";
import type { Run, TaskDetail } from "../types.ts";
import { Gantt } from "../ui/gantt.tsx";
import { A, Badge, Panel, When } from "../ui/parts.tsx";

/** useMoments are those of a task's runs; read is false until its past is read. */
function useMoments(id: string): { byRun: Map<string, Moments>; read: boolean } {
  const [state, setState] = useState({ byRun: new Map<string, Moments>(), read: false });
  useEffect(() => {
    const moments = new RunMoments();
    let read = false;
    const shown: Drawn = { listeners: new Set([() => setState({ byRun: moments.byRun, read })]) };
    const stop = followTask(id, (it) => void (moments.take(it) && showSoon(shown)), () => {
      read = true;
      showSoon(shown);
    });
    return () => {
      stop();
      shown.listeners.clear();
    };
  }, [id]);
  return state;
}

/** Timeline shows when the runs of a task waited, came up and worked. */
export function Timeline({ t, selected }: { t: TaskDetail; selected: string }) {
  const runs = allRuns(t);
  const { byRun, read } = useMoments(t.id);
  const moments = read ? byRun : new Map<string, Moments>();
  return (
    <Panel
      title="Who worked when"
      bare
      aside={
        <span className="muted small legend">
          <span className="key queue" aria-hidden="true" /> on the queue <span className="key start" aria-hidden="true" /> comes up <span className="key" aria-hidden="true" /> works; its colour tells how it ended
        </span>
      }
    >
      <Gantt runs={runs} moments={moments} submitted={t.submitted} selected={selected} />
      <RunTable runs={runs} moments={moments} />
    </Panel>
  );
}

const mostRuns = 60; // of the table, until more are asked for

function RunTable({ runs, moments }: { runs: Run[]; moments: Map<string, Moments> }) {
  const [all, setAll] = useState(false);
  const sorted = [...runs].sort((a, b) => (a.claimed ?? "~").localeCompare(b.claimed ?? "~"));
  const shown = all ? sorted : sorted.slice(-mostRuns);
  const took = (r: Run, kind: string): string => {
    if (!r.claimed) return "-";
    const parts = r.ended || heldSince(r) ? partsOf(moments.get(r.id), Date.parse(r.claimed), r.ended ? Date.parse(r.ended) : clock.now()) : [];
    const length = (of: string): number => parts.filter((p) => p.kind === of).reduce((sum, p) => sum + p.to - p.from, 0);
    // All holders together worked for as long as they had the run, but for the time in which it came up.
    const lasted = r.ended || !heldSince(r) ? r.duration_ms : clock.now() - (heldSince(r) ?? 0);
    const ms = kind === "work" ? lasted - length("start") : length(kind);
    return ms > 0 ? formatTook(ms) : "-";
  };
  return (
    <>
    {shown.length < runs.length ? (
      <p className="empty">
        <button onClick={() => setAll(true)}>Show {formatCount(runs.length - shown.length, "earlier run")}</button>
      </p>
    ) : null}
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Runs as a table">
      <table>
        <thead>
          <tr>
            <th>Run</th>
            <th>Who</th>
            <th>State</th>
            <th>Began</th>
            <th className="right">Queued</th>
            <th className="right">Came up in</th>
            <th className="right">Worked</th>
            <th className="right">Turns</th>
            <th className="right">Cost</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((r) => (
            <tr key={r.id}>
              <td className="mono">
                <A to={runPath(r.id)} data-row>
                  {r.id}
                </A>
              </td>
              <td>{escapeLine(whoText(r))}</td>
              <td>
                <Badge state={runState(r)} />
              </td>
              <td>{r.claimed ? <When at={r.claimed} /> : "-"}</td>
              <td className="right num">{took(r, "queue")}</td>
              <td className="right num">{took(r, "start")}</td>
              <td className="right num">{took(r, "work")}</td>
              <td className="right num">{r.turns}</td>
              <td className="right num">{shortCost(r.cost_micro_usd, r.tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    </>
  );
}
