// What the palette offers: the pages, what the office has, and what an id names.

import { jumps } from "./keys.ts";
import { parseRoute, pullPath, reviewPath, runPath, subtaskPath, taskPath } from "./router.ts";
import { escapeLine, titleOf } from "./text.ts";
import type { Overview, Task } from "../types.ts";

export interface PaletteItem {
  name: string;
  note: string;
  to: string;
}

/** listItems is all that can be gone to; what waits comes first. */
export function listItems(o: Overview | undefined, tasks: Task[]): PaletteItem[] {
  const items: PaletteItem[] = [];
  for (const q of o?.needs_you ?? []) items.push({ name: `Answer ${q.id}`, note: escapeLine(q.question), to: "/inbox?q=" + q.id });
  for (const p of o?.open_prs ?? []) items.push({ name: `Pull request #${p.number}`, note: escapeLine(p.title), to: pullPath(p.task) });
  for (const [key, j] of Object.entries(jumps)) items.push({ name: j.name.charAt(0).toUpperCase() + j.name.slice(1), note: `g ${key}`, to: j.to });
  for (const r of o?.running ?? []) items.push({ name: `Run ${r.id}`, note: escapeLine(r.title ?? r.role), to: runPath(r.id) });
  for (const t of tasks) {
    items.push({ name: `Task ${t.id}`, note: titleOf(t.instruction), to: taskPath(t.id) });
    items.push({ name: `Review ${t.id}`, note: titleOf(t.instruction), to: reviewPath(t.id) });
  }
  return items;
}

/** placeOfID is the page of an id that is typed; empty: it is none. */
export function placeOfID(text: string): string {
  const id = text.trim().toLowerCase();
  const task = id.split("-")[0] ?? "";
  if (parseRoute(taskPath(id)).page === "task") return taskPath(id);
  if (parseRoute(runPath(id)).page !== "run") return "";
  return /\.\d+$/.test(id) ? runPath(id) : subtaskPath(task, id);
}

const most = 12; // items that are shown

/** findItems are the items that have every word of a text, those whose name begins with it first. */
export function findItems(items: PaletteItem[], text: string): PaletteItem[] {
  const words = text.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const fits = items.filter((it) => words.every((w) => `${it.name} ${it.note}`.toLowerCase().includes(w)));
  const first = words[0];
  if (first !== undefined) {
    const rank = (it: PaletteItem): number => (it.name.toLowerCase().split(" ").some((part) => part === first) ? 0 : it.name.toLowerCase().includes(first) ? 1 : 2);
    fits.sort((a, b) => rank(a) - rank(b));
  }
  const to = placeOfID(text);
  const own = to && !fits.some((it) => it.to === to) ? [{ name: `Open ${text.trim()}`, note: "", to }] : [];
  return [...own, ...fits].slice(0, most);
}
