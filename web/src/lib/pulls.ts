// What a person runs next on a pull request.

import type { Overview, PullRequest } from "../types.ts";

export interface PullCommand {
  what: string;
  command: string;
}

/** pullCommands are the commands for a pull request that waits. Its task names it: forges number by repository. */
export function pullCommands(p: PullRequest): PullCommand[] {
  if (p.state !== "open") return [];
  const commands = [{ what: "Merge", command: `company pr merge ${p.task}` }];
  // A branch that lacks what was delivered cannot be checked out as that.
  if (!p.branch_change || p.branch_change.kind === "ahead") commands.unshift({ what: "Check out", command: `company pr checkout ${p.task}` });
  return commands;
}

/** countWaiting is how much waits for the president: questions, and pull requests to review. */
export const countWaiting = (o: Pick<Overview, "needs_you" | "open_prs"> | undefined): number => (o ? o.needs_you.length + o.open_prs.length : 0);
