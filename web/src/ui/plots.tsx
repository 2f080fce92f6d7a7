import type { ReactNode } from "react";
import { formatAge, formatTokens, formatUSD } from "../lib/format.ts";
import { ticksOf, timeTicks } from "../lib/layout.ts";
import { escapeLine } from "../lib/text.ts";
import type { Cap, Run } from "../types.ts";
import { Empty } from "./parts.tsx";

/** Figure is a plot with its unit and, behind a fold, the same as a table. */
export function Figure({ title, unit, children, head, rows }: { title: string; unit: string; children: ReactNode; head: string[]; rows: (string | number)[][] }) {
  return (
    <figure className="stack tight">
      <figcaption className="row spread">
        <h3>{title}</h3>
        <span className="muted small">{unit}</span>
      </figcaption>
      {rows.length === 0 ? <Empty>Nothing to plot yet.</Empty> : children}
      {rows.length > 0 ? (
        <details className="small">
          <summary>Table</summary>
          <div className="scroll-x" tabIndex={0} role="region" aria-label={title + " as a table"}>
            <table>
              <thead>
                <tr>
                  {head.map((h, i) => (
                    <th key={h} className={i > 0 ? "right" : ""}>
                      {h}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((r, i) => (
                  <tr key={i}>
                    {r.map((c, j) => (
                      <td key={j} className={j > 0 ? "right num" : ""}>
                        {typeof c === "string" ? escapeLine(c) : c.toLocaleString("en-US")}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      ) : null}
    </figure>
  );
}

export interface BarRow {
  label: string;
  value: number;
  text: string;
  tone?: 1 | 2 | 3 | 4;
}

/** Bars is a bar for each row, the longest as wide as the plot. */
export function Bars({ rows, label, most }: { rows: BarRow[]; label: string; most?: number }) {
  const top = most ?? Math.max(...rows.map((r) => r.value), 0);
  return (
    <div role="img" aria-label={label} className="stack tight">
      {rows.map((r) => (
        <div key={r.label} style={{ display: "grid", gridTemplateColumns: "minmax(70px, 26%) 1fr max-content", gap: 8, alignItems: "center" }} className="small">
          <span className="cut muted" title={escapeLine(r.label)}>
            {escapeLine(r.label)}
          </span>
          <svg width="100%" height="14" aria-hidden="true">
            <rect className={"plot-" + (r.tone ?? 1)} x="0" y="1" height="12" rx="2" width={`${top > 0 ? Math.max(0.4, (r.value / top) * 100) : 0}%`} stroke="none" />
          </svg>
          <span className="num">{r.text}</span>
        </div>
      ))}
    </div>
  );
}

/** CostOverTime is what the runs of a task cost that have ended, added up as they ended. */
export function CostOverTime({ runs, begin, cap }: { runs: Run[]; begin: string; cap: Cap | null }) {
  const ended = runs.filter((r) => r.ended).sort((a, b) => Date.parse(a.ended ?? "") - Date.parse(b.ended ?? ""));
  const priced = ended.some((r) => r.cost_micro_usd != null);
  const from = Date.parse(begin);
  let sum = 0;
  const points = ended.map((r) => {
    sum += priced ? (r.cost_micro_usd ?? 0) : r.tokens;
    return { at: Date.parse(r.ended ?? "") - from, sum, run: r };
  });
  const text = (n: number) => (priced ? formatUSD(n) : formatTokens(n));
  const limit = priced ? cap?.micro_usd : cap?.tokens;
  const span = Math.max(1000, points[points.length - 1]?.at ?? 0);
  const near = limit != null && sum > limit * 0.4;
  const top = Math.max(near ? (limit ?? 0) : 0, sum) * 1.08 || 1;
  const [w, h, left, bottom] = [760, 240, 78, 22];
  const x = (t: number) => left + (t / span) * (w - left - 12);
  const y = (n: number) => 10 + (1 - n / top) * (h - bottom - 10);
  const line = points.reduce((d, p) => `${d} H ${x(p.at).toFixed(1)} V ${y(p.sum).toFixed(1)}`, `M ${x(0)} ${y(0)}`);
  return (
    <Figure
      title={priced ? "Added up" : "Tokens added up: no price is known"}
      unit={priced ? "USD, by the end of each run" : "tokens, by the end of each run"}
      head={["Run", "Ended after", "Cost", "Sum"]}
      rows={points.map((p) => [p.run.id, formatAge(p.at), text(priced ? (p.run.cost_micro_usd ?? 0) : p.run.tokens), text(p.sum)])}
    >
      <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${text(sum)} after ${formatAge(span)}`} style={{ width: "100%", maxHeight: 300 }}>
        {ticksOf(top).map((n) => (
          <g key={n}>
            <line className="axis" x1={left} x2={w - 12} y1={y(n)} y2={y(n)} />
            <text x={left - 8} y={y(n) + 4} textAnchor="end">
              {text(n)}
            </text>
          </g>
        ))}
        {timeTicks(span).map((t) => (
          <text key={t} x={x(t)} y={h - 5} textAnchor={t === 0 ? "start" : x(t) > w - 40 ? "end" : "middle"}>
            {formatAge(t)}
          </text>
        ))}
        {near && limit != null ? (
          <>
            <line className="cap" x1={left} x2={w - 12} y1={y(limit)} y2={y(limit)} />
            <text x={w - 14} y={y(limit) - 4} textAnchor="end">
              cap {text(limit)}
            </text>
          </>
        ) : null}
        <path className="plot-1" d={line} style={{ fill: "none" }} strokeWidth="2" />
        {points.map((p) => (
          <circle key={p.run.id} className="plot-1" cx={x(p.at)} cy={y(p.sum)} r="2.5" />
        ))}
      </svg>
      {limit != null && !near ? <p className="hint">cap: {text(limit)}</p> : null}
    </Figure>
  );
}
