// Numbers, ages and words, as internal/present/view writes them on a terminal.

import { clock } from "./api.ts";
import type { Awaited, Overview, Run, Subtask, Task, TaskDetail } from "../types.ts";

export const micro = 1_000_000;

/** formatUSD is micro dollars for people. */
export function formatUSD(n: number): string {
  if (n > 0 && n < 10_000) return "$" + (n / micro).toFixed(6).replace(/0+$/, "");
  return "$" + (n / micro).toFixed(2);
}

/** formatTokens is a number of tokens in few digits. */
export function formatTokens(n: number): string {
  if (n >= 10_000_000 || (n >= 1_000_000 && n % 1_000_000 === 0)) return `${Math.floor(n / 1_000_000)}M tokens`;
  if (n >= 10_000) return `${Math.floor(n / 1000)}k tokens`;
  return formatCount(n, "token");
}

export function formatCount(n: number, what: string): string {
  return n === 1 ? `1 ${what}` : `${n.toLocaleString("en-US")} ${what}s`;
}

/** formatCost is money where a price is known, and the tokens. */
export function formatCost(usd: number | null | undefined, tokens: number): string {
  return usd == null ? formatTokens(tokens) : `${formatUSD(usd)}, ${formatTokens(tokens)}`;
}

/** shortCost is money where a price is known, else tokens. */
export function shortCost(usd: number | null | undefined, tokens: number): string {
  if (usd != null) return formatUSD(usd);
  return tokens === 0 ? "-" : formatTokens(tokens);
}

/** formatAge is a short form of a span in milliseconds. */
export function formatAge(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${String(s % 60).padStart(2, "0")}s`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)}h${String(Math.floor(s / 60) % 60).padStart(2, "0")}m`;
  return `${Math.floor(s / 86400)}d${String(Math.floor(s / 3600) % 24).padStart(2, "0")}h`;
}

/** startedAfter says how long an ended task waited for its first run, if that is worth a word. */
export function startedAfter(t: TaskDetail): string {
  const begun = [...t.plan.map((s) => s.started), ...t.runs.filter((r) => !r.earlier_ms).map((r) => r.claimed)];
  const waited = Math.min(...begun.filter((at) => at != null).map((at) => Date.parse(at))) - Date.parse(t.submitted);
  return Number.isFinite(waited) && waited >= 1000 ? `, ${formatAge(waited)} until its first run` : "";
}

/** formatTook is a measured span, with tenths below ten seconds. */
export function formatTook(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : formatAge(ms);
}

export const shortOID = (oid: string | undefined): string => (oid ?? "").slice(0, 7);

const two = (n: number): string => String(n).padStart(2, "0");

/** formatTime is the time of day, with the date where the office has another day now. */
export function formatTime(at: string | number, now: number = clock.now()): string {
  const d = new Date(at);
  const time = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  return new Date(now).toDateString() === d.toDateString() ? time : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${time}`;
}

/** parseAmount reads an amount as people write it: 5usd, $2.50, 100ktokens, 2Mtokens. */
export function parseAmount(text: string): { micro_usd?: number; tokens?: number } | null {
  const m = /^(\$?)([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(usd|[km]?tokens?|[km])?$/.exec(text.trim().toLowerCase());
  if (!m || (m[1] === "$") === (m[3] !== undefined)) return null;
  const n = Number(m[2]);
  if (!(n > 0)) return null;
  if (m[1] === "$" || m[3] === "usd") return { micro_usd: Math.round(n * micro) };
  const scale = m[3]?.[0] === "k" ? 1e3 : m[3]?.[0] === "m" ? 1e6 : 1;
  const tokens = Math.round(n * scale);
  return tokens > 0 ? { tokens } : null;
}

/** Tone is how a state looks; its sign stands beside the words, so that colour is never alone. */
export type Tone = "good" | "bad" | "need" | "warn" | "run" | "calm";

export const signs: Record<Tone, string> = { good: "✓", bad: "✗", need: "!", warn: "~", run: "▸", calm: "·" };

export interface State {
  text: string;
  tone: Tone;
}

/** waitsText says which tasks a task waits for. */
function waitsText(all: Awaited[]): string {
  if (all.length === 0) return "waiting";
  return "waits for " + (all.length <= 2 ? all.map((a) => a.task).join(", ") : `${all[0]?.task} and ${all.length - 1} more`);
}

/** awaitedText says for what of a task another one waits. */
export function awaitedText(a: Awaited): string {
  if (a.status === "completed" && a.pr) return `#${a.pr} is ${a.pr_state === "closed" ? "closed" : "to be merged"}`;
  return taskStates[a.status]?.text ?? a.status;
}

const taskStates: Record<string, State> = {
  pending: { text: "preparing", tone: "run" },
  decomposing: { text: "planning", tone: "run" },
  executing: { text: "working", tone: "run" },
  reviewing: { text: "finishing", tone: "run" },
  awaiting_input: { text: "needs you", tone: "need" },
  waiting: { text: "waiting", tone: "calm" },
  queued: { text: "queued", tone: "warn" },
  completed: { text: "done", tone: "good" },
  failed: { text: "failed", tone: "bad" },
  cancelled: { text: "cancelled", tone: "calm" },
};

export function taskState(t: Task): State {
  if (t.status === "completed" && t.dry_run) return { text: "planned only", tone: "calm" };
  if (t.status === "completed" && t.untested_why) return { text: "done, UNTESTED", tone: "warn" };
  if (t.status === "completed" && t.unverified?.length) return { text: "done, UNVERIFIED", tone: "warn" };
  if (t.ended == null && t.paused) return { text: "paused", tone: "warn" };
  if (t.resting) return { text: "resting", tone: "warn" };
  if (t.status === "waiting") return { text: waitsText(t.waits_for ?? []), tone: "calm" };
  return taskStates[t.status] ?? { text: t.status, tone: "calm" };
}

/** holdTexts lists why a task, or parts of it, do not begin now. Its questions and its state name the other reasons. */
export function holdTexts(t: Task): string[] {
  const out: string[] = [];
  const parts = new Map<string, string[]>(); // ids of the subtasks, by what they wait for
  for (const h of t.waits ?? []) {
    if (h.kind === "tasks" || h.kind === "answer") continue;
    const text = h.error ? `${h.text}: ${h.error}` : h.text;
    if (h.subtask) parts.set(text, [...(parts.get(text) ?? []), h.subtask]);
    else out.push(text);
  }
  for (const [text, ids] of parts) out.push(`${ids.length > 4 ? `${ids.slice(0, 4).join(", ")} and ${ids.length - 4} more` : ids.join(", ")}: ${text}`);
  return out;
}

/** countWork counts the tasks that are at work, and those that wait without being at work. */
export function countWork(o: Overview): { working: number; waiting: number } {
  const working = new Set([...o.running.map((r) => r.task), ...o.steps.map((s) => s.task)]);
  return { working: working.size, waiting: o.tasks.filter((t) => holdTexts(t).length > 0 && !working.has(t.id)).length };
}

/** workText says how many tasks are at work, and how many wait. */
export function workText(o: Overview): string {
  const { working, waiting } = countWork(o);
  if (working === 0) return waiting === 0 ? "idle" : `${formatCount(waiting, "task")} waiting`;
  return `${formatCount(working, "task")} at work` + (waiting > 0 ? `, ${waiting} waiting` : "");
}

export function subtaskState(s: Subtask): State {
  if (s.paused) return { text: "paused", tone: "warn" };
  if (s.question) return { text: "needs you", tone: "need" };
  const states: Record<string, State> = {
    pending: { text: "waiting", tone: "calm" },
    assigned: { text: "queued", tone: "calm" },
    running: { text: "working", tone: "run" },
    quality_check: { text: "in the gates", tone: "run" },
    reviewing: { text: "in review", tone: "run" },
    merging: { text: "merging", tone: "run" },
    completed: { text: "merged", tone: "good" },
    failed: { text: "failed", tone: "bad" },
    blocked: { text: "stuck", tone: "need" },
    cancelled: { text: "cancelled", tone: "calm" },
  };
  return states[s.status] ?? { text: s.status.replaceAll("_", " "), tone: "calm" };
}

export function runState(r: Run): State {
  const states: Record<string, State> = {
    offered: { text: "queued", tone: "calm" },
    running: { text: "working", tone: "run" },
    "waits for budget": { text: "waits for budget", tone: "warn" },
    success: { text: "done", tone: "good" },
    partial: { text: "out of turns", tone: "warn" },
    quality_failed: { text: "gates red", tone: "bad" },
    error: { text: "failed", tone: "bad" },
  };
  return states[r.status] ?? { text: r.status.replaceAll("_", " "), tone: "calm" };
}

/** doingText is what a run that goes on is at. */
export function doingText(r: Run): string {
  if (r.status === "waits for budget") return r.status;
  if (r.doing) return r.doing;
  return r.role === "manager" ? "plans" : "begins";
}

/** whoText is who does a run: the worker's name, or the role. */
export const whoText = (r: Run): string => (r.role === "worker" && r.worker ? r.worker : r.role);

/** heldSince is the start of a run that is held now, moved on by the time that nobody held it; null if nobody does. */
export function heldSince(r: Run): number | null {
  return !r.claimed || r.ended || r.status === "offered" || r.status === "interrupted" ? null : Date.parse(r.claimed) - (r.earlier_ms ?? 0);
}

/** failureText says what failed and how often, as company.Failure.Describe does. */
export function failureText(t: TaskDetail, key: string, f: { attempt: number; code?: string }): string {
  const often = formatCount(f.attempt, "time");
  if (key !== "plan" || t.status !== "executing") return `${key} failed ${often}`;
  return (f.code ?? "").startsWith("E_MODEL") ? `the manager could not be asked, tried ${often}` : `the manager's decision failed ${often}`;
}

/** logsOf is the run whose logs an error names, or "". */
export const logsOf = (error: string): string => /\(company logs ([a-z0-9.-]+)\)/.exec(error)?.[1] ?? "";
