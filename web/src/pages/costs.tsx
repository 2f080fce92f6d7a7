import { useState } from "react";
import { formatCost, formatCount, formatTokens, formatTook, formatUSD } from "../lib/format.ts";
import { taskPath } from "../lib/router.ts";
import { escapeLine } from "../lib/text.ts";
import { allRuns } from "../lib/moments.ts";
import type { Budget, OfficeBudget, Overview, Run, Shown, Spending, SpendingRow, TaskDetail } from "../types.ts";
import { useResource } from "../ui/hooks.ts";
import { A, Bar, Empty, Panel, Read, Skeleton } from "../ui/parts.tsx";
import { Bars, Figure } from "../ui/plots.tsx";

const newest = 6; // tasks whose runs and gates are looked at

export function CostsPage() {
  const spending = useResource<Spending>("spending");
  const budgets = useResource<OfficeBudget[]>("budgets");
  const costs = useResource<Budget[]>("costs");
  const overview = useResource<Overview>("overview");
  const ids = (overview.data?.tasks ?? []).slice(0, newest).map((t) => t.id);
  return (
    <div className="stack">
      <h1>Costs</h1>
      <div className="halves">
        <Panel title="Caps of the office" aside={<span className="muted small">used and reserved</span>}>
          <Read entry={budgets} path="budgets" what="the caps">
            {(all) => (
              <ul className="stack tight">
                {(all ?? []).map((b) => (
                  <BudgetLine key={b.scope} b={b} />
                ))}
              </ul>
            )}
          </Read>
        </Panel>
        <Panel title="Open tasks" bare>
          <Read entry={costs} path="costs" what="the costs">
            {(all) => (all.length === 0 ? <Empty>Nothing is under way.</Empty> : <OpenCosts all={all} />)}
          </Read>
        </Panel>
      </div>
      <Read entry={spending} path="spending" what="the spending">
        {(s) => <SpendingPlots s={s} />}
      </Read>
      <NewestTasks ids={ids} />
    </div>
  );
}

function BudgetLine({ b }: { b: OfficeBudget }) {
  const capped = b.cap_micro_usd != null || b.cap_tokens != null;
  const part = b.cap_micro_usd ? b.used_micro_usd / b.cap_micro_usd : b.cap_tokens ? b.used_tokens / b.cap_tokens : 0;
  return (
    <li className="stack tight small">
      <div className="row spread">
        <strong>{b.scope === "day" ? `today${b.day ? ", " + b.day : ""}` : "the office, in all"}</strong>
        <span className="num">
          {formatCost(b.used_micro_usd || null, b.used_tokens)}
          {capped ? ` of ${b.cap_micro_usd != null ? formatUSD(b.cap_micro_usd) : formatTokens(b.cap_tokens ?? 0)}` : ", without a cap"}
        </span>
      </div>
      {capped ? <Bar part={part} tone={part >= 1 ? "full" : part >= 0.8 ? "near" : ""} label={`${Math.round(part * 100)} % used`} /> : null}
      {b.used_up ? <span className="ink-bad">used up{b.until ? " until " + new Date(b.until).toLocaleTimeString() : ""}</span> : null}
    </li>
  );
}

/** capOf is the cap that counts: tokens, where no price is known. */
function capOf(b: Budget): string {
  if (b.cap_tokens != null && (b.cost_micro_usd == null || b.cap_micro_usd == null)) return formatTokens(b.cap_tokens);
  return b.cap_micro_usd != null ? formatUSD(b.cap_micro_usd) : "none";
}

function OpenCosts({ all }: { all: Budget[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Costs of open tasks">
      <table>
        <thead>
          <tr>
            <th>Task</th>
            <th className="right">Spent</th>
            <th className="right">Reserved</th>
            <th className="right">Cap</th>
          </tr>
        </thead>
        <tbody>
          {all.map((b) => (
            <tr key={b.task}>
              <td className="mono">
                <A to={taskPath(b.task) + "?tab=cost"} data-row>
                  {b.task}
                </A>
                {b.waits_for_you ? <span className="ink-need"> needs you</span> : null}
              </td>
              <td className="right num">{formatCost(b.cost_micro_usd, b.tokens)}</td>
              <td className="right num">{formatCost(b.reserved_micro_usd || null, b.reserved_tokens)}</td>
              <td className="right num">{capOf(b)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SpendingPlots({ s }: { s: Spending }) {
  const priced = s.total.cost_micro_usd != null;
  const [unit, setUnit] = useState<"usd" | "tokens">("usd");
  const money = priced && unit === "usd";
  const value = (r: SpendingRow) => (money ? (r.cost_micro_usd ?? 0) : r.tokens);
  const rows = (all: SpendingRow[]) => all.map((r) => [r.of, r.runs, r.cost_micro_usd == null ? "not known" : formatUSD(r.cost_micro_usd), r.tokens]);
  const bars = (all: SpendingRow[], tone: 1 | 2 | 3) => all.slice(0, 14).map((r) => ({ label: r.of, value: value(r), text: money ? (r.cost_micro_usd == null ? "not known" : formatUSD(r.cost_micro_usd)) : formatTokens(r.tokens), tone }));
  const head = ["Of", "Runs", "Cost", "Tokens"];
  const unitText = money ? "USD, runs that have ended" : "tokens, runs that have ended";
  return (
    <Panel
      title={`Spent: ${formatCost(s.total.cost_micro_usd, s.total.tokens)} in ${formatCount(s.total.runs, "run")}`}
      aside={
        priced ? (
          <label className="check">
            <input type="checkbox" checked={unit === "tokens"} onChange={(e) => setUnit(e.target.checked ? "tokens" : "usd")} /> in tokens
          </label>
        ) : (
          <span className="muted small">no price is known for these models</span>
        )
      }
    >
      <div className="halves">
        <Figure title="By day" unit={unitText} head={head} rows={rows(s.by_day)}>
          <Bars label="cost by day" rows={bars([...s.by_day].slice(0, 14).reverse(), 1)} />
        </Figure>
        <Figure title="By task" unit={unitText} head={head} rows={rows(s.by_task)}>
          <Bars label="cost by task" rows={bars(s.by_task, 2)} />
        </Figure>
        <Figure title="By model" unit={unitText} head={head} rows={rows(s.by_model)}>
          <Bars label="cost by model" rows={bars(s.by_model, 3)} />
        </Figure>
      </div>
    </Panel>
  );
}

function NewestTasks({ ids }: { ids: string[] }) {
  const [details, setDetails] = useState<Record<string, TaskDetail>>({});
  const tasks = ids.map((id) => details[id]).filter((t): t is TaskDetail => t !== undefined);
  const cached = tasks.filter((t) => t.cache);
  const spans = busyOf(tasks.flatMap(allRuns));
  const gates = tasks.flatMap((t) => t.plan.flatMap((s) => (s.gate?.checks ?? []).map((c) => ({ of: `${s.id} ${c.name}`, ms: c.took_ms, bad: c.verdict !== "passed" }))));
  return (
    <Panel title="The newest tasks" aside={<span className="muted small">{ids.join(", ")}</span>}>
      {ids.map((id) => (
        <Fetch key={id} id={id} have={(t) => setDetails((all) => (all[id] === t ? all : { ...all, [id]: t }))} />
      ))}
      {ids.length === 0 ? (
        <Empty>No task yet.</Empty>
      ) : tasks.length === 0 ? (
        <Skeleton what="the newest tasks" />
      ) : (
        <div className="halves">
          <Figure title="Cached input" unit="% of the input tokens" head={["Task", "Input", "Cached", "%"]} rows={cached.map((t) => [t.id, t.cache?.input_tokens ?? 0, t.cache?.cached_tokens ?? 0, t.cache?.percent ?? 0])}>
            <Bars label="cached input by task" most={100} rows={cached.map((t) => ({ label: t.id, value: t.cache?.percent ?? 0, text: (t.cache?.percent ?? 0) + " %", tone: 4 }))} />
          </Figure>
          <Figure title="Who was busy" unit="% of the time that runs were under way" head={["Who", "Runs", "Busy", "%"]} rows={spans.map((b) => [b.who, b.runs, formatTook(b.ms), b.percent])}>
            <Bars label="use of workers" most={100} rows={spans.map((b) => ({ label: b.who, value: b.percent, text: b.percent + " %", tone: 1 }))} />
          </Figure>
          <Figure title="Gates" unit="seconds of each check" head={["Check", "Took"]} rows={gates.map((g) => [g.of, formatTook(g.ms)])}>
            <Bars label="time of gates" rows={gates.slice(0, 24).map((g) => ({ label: g.of, value: g.ms, text: formatTook(g.ms), tone: g.bad ? 2 : 3 }))} />
          </Figure>
        </div>
      )}
    </Panel>
  );
}

/** busyOf is how much of the time in which any run was under way each agent had one. */
function busyOf(runs: Run[]): { who: string; runs: number; ms: number; percent: number }[] {
  const begun = runs.filter((r) => r.claimed && r.ended).map((r) => ({ who: r.worker || r.role, from: Date.parse(r.claimed ?? ""), to: Date.parse(r.ended ?? "") }));
  let total = 0;
  let until = -Infinity;
  for (const s of [...begun].sort((a, b) => a.from - b.from)) {
    total += Math.max(0, s.to - Math.max(s.from, until));
    until = Math.max(until, s.to);
  }
  const by = new Map<string, { runs: number; ms: number }>();
  for (const s of begun) {
    const b = by.get(s.who) ?? { runs: 0, ms: 0 };
    by.set(s.who, { runs: b.runs + 1, ms: b.ms + s.to - s.from });
  }
  return [...by].map(([who, b]) => ({ who: escapeLine(who), ...b, percent: total > 0 ? Math.round((b.ms / total) * 100) : 0 })).sort((a, b) => a.who.localeCompare(b.who));
}

function Fetch({ id, have }: { id: string; have: (t: TaskDetail) => void }) {
  const entry = useResource<Shown>("tasks/" + id);
  const t = entry.data?.task;
  if (t) queueMicrotask(() => have(t));
  return null;
}
