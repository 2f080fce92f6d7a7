// Questions of one kind, which can be answered together.

import type { Approval, Option } from "../types.ts";

export interface QuestionGroup {
  key: string; // of no other group: questions of one kind may have other options
  kind: string;
  options: Option[];
  questions: Approval[];
}

/** groupQuestions puts questions together that are of one kind and have the same options; a question alone is in none. */
export function groupQuestions(all: Approval[]): QuestionGroup[] {
  const groups = new Map<string, QuestionGroup>();
  for (const q of all) {
    const key = JSON.stringify([q.kind, q.options.map((o) => [o.name, o.input ?? ""])]);
    const group = groups.get(key);
    if (group) group.questions.push(q);
    else groups.set(key, { key, kind: q.kind, options: q.options, questions: [q] });
  }
  return [...groups.values()].filter((g) => g.questions.length > 1);
}
