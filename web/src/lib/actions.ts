// What the president can have done: commands, and what becomes of them.

import { asProblem, newKey, post } from "./api.ts";
import { draftOf, keepDraft } from "./drafts.ts";
import { formatCount } from "./format.ts";
import { invalidate } from "./store.ts";
import type { Approval, CommandResult, Option, PullRequest, Task } from "../types.ts";
import { askUser } from "../ui/dialog.tsx";
import { tell, tellProblem } from "../ui/notices.tsx";

/** sendCommand sends a command, and shows what it did. It gives false where it was refused. */
export async function sendCommand(kind: string, command: Record<string, unknown>, done: string, task?: string): Promise<boolean> {
  const key = newKey();
  try {
    await post<CommandResult>("commands", { id: key, kind, command }, key);
    tell(done);
    return true;
  } catch (err) {
    tellProblem(err);
    return false;
  } finally {
    invalidate(task);
  }
}

export function askPause(t: Task): void {
  if (t.paused) {
    void sendCommand("pause", { Task: t.id, Off: true }, `the pause of ${t.id} is lifted`, t.id);
    return;
  }
  askUser({
    title: `Pause ${t.id}?`,
    text: "Turns under way come to their end, and its runs are put away. Nothing of it begins until you lift the pause.",
    confirm: `Pause ${t.id}`,
    act: async () => void (await sendCommand("pause", { Task: t.id }, `${t.id} is paused`, t.id)),
  });
}

export function askCancel(t: Task): void {
  askUser({
    title: `Cancel ${t.id}?`,
    text: `${t.merged} of ${formatCount(t.subtasks, "subtask")} merged, which stays on its branch. What runs is cut.`,
    confirm: `Cancel ${t.id}`,
    must: t.id,
    danger: true,
    act: async () => void (await sendCommand("cancel", { Task: t.id, Why: "from the page" }, `${t.id} is cancelled`, t.id)),
  });
}

export function askRetry(t: Task, from?: string): void {
  askUser({
    title: from ? `Start again from ${from}?` : `Reopen ${t.id}?`,
    text: from ? `${from} starts again without its earlier work, and so do those after it that are not merged.` : "What is merged stays merged; what failed is tried again.",
    confirm: from ? `Retry from ${from}` : `Reopen ${t.id}`,
    act: async () => void (await sendCommand("retry", from ? { Task: t.id, From: from } : { Task: t.id }, `${t.id} is reopened`, t.id)),
  });
}

/** syncPulls has the office ask its forge what became of the open pull requests. */
export async function syncPulls(): Promise<void> {
  try {
    const done = await post<{ pull_requests: { number: number; state: string; follow_up?: string; error?: string }[] }>("prs/sync", {});
    const news = done.pull_requests.map((p) => (p.error ? `#${p.number} could not be heard` : p.follow_up ? `${p.follow_up} follows up #${p.number}` : p.state === "open" ? "" : `#${p.number} is ${p.state}`)).filter((t) => t);
    tell(news.length > 0 ? news.join(", ") : `nothing new of ${formatCount(done.pull_requests.length, "open pull request")}`);
  } catch (err) {
    tellProblem(err);
  } finally {
    invalidate(undefined);
  }
}

export function askClosePull(p: PullRequest): void {
  askUser({
    title: `Close #${p.number}?`,
    text: "It is closed without a merge, on its forge too. Its branch stays.",
    confirm: `Close #${p.number}`,
    danger: true,
    ask: { label: "Why, for the record", least: 0 },
    act: async (why) => {
      try {
        await post<CommandResult>(`prs/${p.number}/close`, { why });
        tell(`#${p.number} is closed`);
      } catch (err) {
        tellProblem(err);
      } finally {
        invalidate(p.task);
      }
    },
  });
}

export function askStop(): void {
  askUser({
    title: "Stop the office?",
    text: "This cuts all runs, and nothing begins until you resume it.",
    confirm: "Stop the office",
    must: "stop",
    danger: true,
    act: async () => void (await sendCommand("stop", { Why: "from the page" }, "the office is stopped")),
  });
}

export function resumeOffice(): void {
  void sendCommand("resume", {}, "the office goes on");
}

export function askTell(subtask: string, task: string): void {
  askUser({
    title: `A word to the worker of ${subtask}`,
    text: "The worker reads it before its next turn.",
    confirm: "Tell it",
    ask: { label: "Your words", many: true, least: 1 },
    act: async (text) => void (await sendCommand("tell", { Subtask: subtask, Text: text }, `${subtask} is told`, task)),
  });
}

/** Answer is what the president answers to a question. */
export interface Answer {
  option: string;
  text: string;
  raise?: { micro_usd?: number; tokens?: number };
}

/** sendAnswer answers a question, and forgets the words that were typed for it. */
export async function sendAnswer(q: Approval, a: Answer): Promise<boolean> {
  const sent = await tryAnswer(q, a);
  if (sent) keepDraft(draftOf.words(q.id), "");
  return sent;
}

/** tryAnswer answers a question. An answer that ends a task is tried first, and confirmed. */
async function tryAnswer(q: Approval, a: Answer): Promise<boolean> {
  const command: Record<string, unknown> = { Approval: q.id, Option: a.option, Text: a.text, By: "page", Raise: a.raise ?? {} };
  const done = { approve: "yes", reject: "no", answer: "answered" }[a.option] ?? a.option.replaceAll("_", " ");
  try {
    const trial = await post<CommandResult>("trials", { kind: "answer", command });
    const ends = trial.events.find((e) => e.kind === "task.cancelled" || e.kind === "task.failed");
    if (!ends) return await sendCommand("answer", command, `${q.id}: ${done}`, q.task);
  } catch (err) {
    tellProblem(asProblem(err));
    invalidate(q.task);
    return false;
  }
  return await new Promise<boolean>((resolve) => {
    askUser({
      title: `This ends ${q.task}`,
      text: "With this answer the task is given up. What is merged stays on its branch.",
      confirm: `End ${q.task}`,
      must: q.task,
      danger: true,
      leave: () => resolve(false),
      act: async () => resolve(await sendCommand("answer", command, `${q.id}: ${done}; ${q.task} has ended`, q.task)),
    });
  });
}

/** takesWords says whether text beside an option reaches an agent. */
export const takesWords = (o: Option): boolean => o.input === "words" || o.input === "needs_words";

const optionNames: Record<string, string> = { approve: "Yes", reject: "No", answer: "Answer" };

/** optionName is an option as a button says it. */
export function optionName(o: Option): string {
  const name = o.name.replaceAll("_", " ");
  return optionNames[o.name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

/** hasDiff says whether there is a change that a question is about. */
export const hasDiff = (q: Approval): boolean => ["merge", "merge_conflict", "protected", "blocked", "review", "gates", "pr", "held"].includes(q.kind);

export const subjectOf = (q: Approval): string => q.subtask || q.task || "the office";
