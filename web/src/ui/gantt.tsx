import { formatAge, formatCost, formatTook, runState } from "../lib/format.ts";
import { placeSpans, timeTicks } from "../lib/layout.ts";
import { partsOf, type Moments } from "../lib/moments.ts";
import { runPath } from "../lib/router.ts";
import { escapeLine } from "../lib/text.ts";
import type { Run } from "../types.ts";
import { useNow } from "./hooks.ts";
import { A, Empty } from "./parts.tsx";

const partNames = { queue: "queued", start: "came up in", work: "worked" };

/**
 * Gantt shows who worked when: a row for each worker, a bar for each run, which begins with
 * the time in which its container and its prompt came up. The queue before it is a line. The time begins with the
 * submission of the task.
 */
export function Gantt({ runs, moments, submitted, selected }: { runs: Run[]; moments: Map<string, Moments>; submitted: string; selected?: string }) {
  const now = useNow();
  const begun = runs.filter((r) => r.claimed);
  if (begun.length === 0) return <Empty>No run has begun yet.</Empty>;
  const spans = begun.map((run) => ({ id: run.id, lane: run.worker || run.role, from: Date.parse(run.claimed ?? ""), to: run.ended ? Date.parse(run.ended) : now, run }));
  const { rows, from: first, to } = placeSpans(spans);
  const from = Math.min(first, Date.parse(submitted));
  const span = Math.max(1000, to - from);
  const percent = (ms: number): string => `${(ms / span) * 100}%`;
  return (
    <div role="list" aria-label="Runs over time" className="gantt" data-testid="gantt">
      {rows.map((row, i) => (
        <div key={i} role="listitem" style={{ display: "contents" }}>
          <div className="lane cut">{escapeLine(row.lane)}</div>
          <div className="track">
            {row.spans.map((s) => {
              const state = runState(s.run);
              const parts = partsOf(moments.get(s.id), s.from, s.to);
              const queue = parts.find((p) => p.kind === "queue");
              const start = parts.find((p) => p.kind === "start");
              const told = parts.length > 1 ? parts.map((p) => `${partNames[p.kind]} ${formatTook(p.to - p.from)}`).join(", ") : formatTook(s.to - s.from);
              const text = `${s.run.id}, ${s.run.role}, ${state.text}, ${told}, ${formatCost(s.run.cost_micro_usd, s.run.tokens)}`;
              const queued = queue ? Math.max(queue.from, from) : s.from;
              return [
                queue && queued < s.from ? <span key={s.id + "q"} className="queued" aria-hidden="true" style={{ left: percent(queued - from), width: percent(s.from - queued) }} /> : null,
                <A
                  key={s.id}
                  to={runPath(s.run.id)}
                  className={"span tone-" + state.tone}
                  title={text}
                  aria-label={text}
                  style={{ left: `min(${percent(s.from - from)}, 100% - 10px)`, width: percent(s.to - s.from), opacity: selected && s.run.subtask !== selected ? 0.45 : 1 }}
                >
                  {start ? <span className="starting" style={{ width: `${((start.to - start.from) / Math.max(1, s.to - s.from)) * 100}%` }} /> : null}
                  {(s.to - s.from) / span > 0.03 ? <span className="label what">{s.run.subtask ? s.run.subtask.split("-")[1] : s.run.role}</span> : null}
                </A>,
              ];
            })}
          </div>
        </div>
      ))}
      <div className="lane last">time</div>
      <div className="ticks" aria-hidden="true">
        {timeTicks(span).map((t) => (
          <span key={t} style={{ left: `min(${(t / span) * 100}%, 100% - 4em)` }}>
            {formatAge(t)}
          </span>
        ))}
      </div>
    </div>
  );
}
