// Places of the subtasks in the graph, and of the runs on the time line.

export interface Node {
  id: string;
  after: string[];
  wave: number;
}

export interface Placed {
  id: string;
  column: number;
  row: number;
}

export interface Edge {
  from: string;
  to: string;
}

const mostEdges = 120; // between waves; beyond that columns alone tell the order

/**
 * placeGraph gives each subtask a column behind all that it comes after, and its edges.
 * Without `after` the waves are the columns. Cycles cannot be planned; they end all the same.
 */
export function placeGraph(nodes: Node[]): { placed: Placed[]; edges: Edge[]; columns: number; rows: number } {
  const known = new Map(nodes.map((n) => [n.id, n]));
  const ordered = nodes.some((n) => n.after.length > 0);
  const columns = new Map<string, number>();
  const columnOf = (id: string, path: Set<string>): number => {
    const n = known.get(id);
    const have = columns.get(id);
    if (have !== undefined || !n) return have ?? 0;
    if (path.has(id)) return 0;
    path.add(id);
    let column = ordered ? 0 : Math.max(0, n.wave - 1);
    for (const a of n.after) if (known.has(a)) column = Math.max(column, columnOf(a, path) + 1);
    path.delete(id);
    columns.set(id, column);
    return column;
  };
  const edges: Edge[] = [];
  const rows: number[] = [];
  const placed = nodes.map((n) => {
    const column = columnOf(n.id, new Set());
    for (const a of n.after) if (known.has(a)) edges.push({ from: a, to: n.id });
    const row = rows[column] ?? 0;
    rows[column] = row + 1;
    return { id: n.id, column, row };
  });
  if (!ordered) {
    const between: Edge[] = [];
    for (const to of placed) for (const from of placed) if (from.column === to.column - 1) between.push({ from: from.id, to: to.id });
    if (between.length <= mostEdges) edges.push(...between);
  }
  return { placed, edges, columns: rows.length, rows: Math.max(0, ...rows.map((r) => r ?? 0)) };
}

export interface Span {
  id: string;
  lane: string;
  from: number;
  to: number;
}

/** placeSpans puts spans into lanes, with further rows where two of a lane overlap. */
export function placeSpans<T extends Span>(spans: T[]): { rows: { lane: string; spans: T[] }[]; from: number; to: number } {
  const rows: { lane: string; spans: T[] }[] = [];
  let from = Infinity;
  let to = -Infinity;
  for (const s of [...spans].sort((a, b) => a.from - b.from)) {
    from = Math.min(from, s.from);
    to = Math.max(to, s.to);
    const row = rows.find((r) => r.lane === s.lane && (r.spans[r.spans.length - 1]?.to ?? 0) <= s.from);
    if (row) row.spans.push(s);
    else rows.push({ lane: s.lane, spans: [s] });
  }
  const order = (lane: string): string => {
    const at = ["manager", "reviewer", "merger"].indexOf(lane);
    return at === 0 ? " " : at > 0 ? "~" + at : lane.replace(/\d+/, (n) => n.padStart(6, "0"));
  };
  rows.sort((a, b) => (order(a.lane) < order(b.lane) ? -1 : order(a.lane) > order(b.lane) ? 1 : 0));
  return { rows, from: Number.isFinite(from) ? from : 0, to: Number.isFinite(to) ? to : 0 };
}

/** ticksOf are round places on a scale from 0 to most. */
export function ticksOf(most: number, about = 4): number[] {
  if (!(most > 0)) return [0];
  const rough = most / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const out: number[] = [];
  for (let i = 0; i * step <= most * 1.0001; i++) out.push(i * step);
  return out;
}

/** timeTicks are round spans of time, in ms from the beginning. */
export function timeTicks(span: number, about = 6): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400].map((s) => s * 1000);
  const step = steps.find((s) => span / s <= about) ?? 86_400_000 * Math.ceil(span / 86_400_000 / about);
  const out: number[] = [];
  for (let t = 0; t <= span; t += step) out.push(t);
  return out;
}
