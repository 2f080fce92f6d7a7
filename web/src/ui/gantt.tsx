import { formatAge, formatCost, formatTook, runState } from "../lib/format.ts";
import { placeSpans, timeTicks } from "../lib/layout.ts";
import { runPath } from "../lib/router.ts";
import { escapeLine } from "../lib/text.ts";
import type { Run } from "../types.ts";
import { useNow } from "./hooks.ts";
import { A, Empty } from "./parts.tsx";

/** Gantt shows who worked when: a row for each worker, a bar for each run. */
export function Gantt({ runs, selected }: { runs: Run[]; selected?: string }) {
  const now = useNow();
  const begun = runs.filter((r) => r.claimed);
  if (begun.length === 0) return <Empty>No run has begun yet.</Empty>;
  const spans = begun.map((run) => ({ id: run.id, lane: run.worker || run.role, from: Date.parse(run.claimed ?? ""), to: run.ended ? Date.parse(run.ended) : now, run }));
  const { rows, from, to } = placeSpans(spans);
  const span = Math.max(1000, to - from);
  return (
    <div role="list" aria-label="Runs over time" className="gantt" data-testid="gantt">
      {rows.map((row, i) => (
        <div key={i} role="listitem" style={{ display: "contents" }}>
          <div className="lane cut">{escapeLine(row.lane)}</div>
          <div className="track">
            {row.spans.map((s) => {
              const state = runState(s.run);
              const text = `${s.run.id}, ${s.run.role}, ${state.text}, ${formatTook(s.to - s.from)}, ${formatCost(s.run.cost_micro_usd, s.run.tokens)}`;
              return (
                <A
                  key={s.id}
                  to={runPath(s.run.id)}
                  className={"span tone-" + state.tone}
                  title={text}
                  aria-label={text}
                  style={{ left: `${((s.from - from) / span) * 100}%`, width: `${((s.to - s.from) / span) * 100}%`, opacity: selected && s.run.subtask !== selected ? 0.45 : 1 }}
                >
                  {(s.to - s.from) / span > 0.03 ? (s.run.subtask ? s.run.subtask.split("-")[1] : s.run.role) : null}
                </A>
              );
            })}
          </div>
        </div>
      ))}
      <div className="lane muted">time</div>
      <div className="ticks" aria-hidden="true">
        {timeTicks(span).map((t) => (
          <span key={t} style={t / span > 0.93 ? { right: 0 } : { left: `${(t / span) * 100}%` }}>
            {formatAge(t)}
          </span>
        ))}
      </div>
    </div>
  );
}
