// When a run waited, came up and worked, from the feed of its task: the office's views tell
// when it was claimed and when it ended, and the ledger the rest.

import type { FeedItem, Run, TaskDetail } from "../types.ts";

/** allRuns are the runs of a task and of its subtasks. */
export const allRuns = (t: TaskDetail): Run[] => [...t.runs, ...t.plan.flatMap((s) => s.runs)];

/** Moments are times in ms; 0: not known. */
export interface Moments {
  offered: number; // put on the queue
  claimed: number; // taken by a worker
  begun: number; // what it may cost was set aside, as its model was asked for the first time; or claimed after that
  asked: boolean; // its model was asked, by this holder or by one before
}

/** RunMoments reads them from the items of a feed. An item that comes twice changes nothing. */
export class RunMoments {
  readonly byRun = new Map<string, Moments>();
  private last = 0;

  /** take reads an item, in the order of the feed. It gives whether it told something. */
  take(it: FeedItem): boolean {
    if (!it.run || it.seq === undefined || it.seq <= this.last) return false;
    this.last = it.seq;
    const at = Date.parse(it.time);
    const have = this.byRun.get(it.run) ?? { offered: 0, claimed: 0, begun: 0, asked: false };
    switch (it.kind) {
      case "run.offered":
        // A run that was let go is offered again: its time begins again.
        this.byRun.set(it.run, { offered: at, claimed: 0, begun: 0, asked: have.asked });
        return true;
      case "run.claimed":
        this.byRun.set(it.run, { ...have, claimed: at, begun: have.asked ? at : 0 });
        return true;
      case "budget.reserved":
        if (have.begun) return false;
        this.byRun.set(it.run, { ...have, begun: at, asked: true });
        return true;
    }
    return false;
  }
}

/** Part is a stretch of a run. */
export interface Part {
  kind: "queue" | "start" | "work";
  from: number;
  to: number;
}

/** partsOf splits a run that was claimed at from and lasts until to. Without moments it is work. */
export function partsOf(m: Moments | undefined, from: number, to: number): Part[] {
  const parts: Part[] = [];
  const known = m && Math.abs(m.claimed - from) < 1000 ? m : undefined; // of this claim, not of one before
  if (known?.offered && known.offered < from) parts.push({ kind: "queue", from: known.offered, to: from });
  const begun = known ? (known.begun ? Math.min(Math.max(known.begun, from), to) : to) : from;
  if (begun > from) parts.push({ kind: "start", from, to: begun });
  if (to > begun) parts.push({ kind: "work", from: begun, to });
  return parts;
}
