// Texts that are being typed, by the place where they are typed. A page that is left, by a link,
// by a key or because it is loaded again, has its text when this tab shows it again.

const prefix = "company.draft.";

const memory = new Map<string, string>(); // where a browser lets nothing be stored, or no more

export function readDraft(key: string): string {
  const kept = memory.get(key);
  if (kept !== undefined) return kept;
  try {
    return sessionStorage.getItem(prefix + key) ?? "";
  } catch {
    return "";
  }
}

/** keepDraft keeps a text until it is sent; an empty one is forgotten. */
export function keepDraft(key: string, text: string): void {
  memory.delete(key);
  try {
    if (text) sessionStorage.setItem(prefix + key, text);
    else sessionStorage.removeItem(prefix + key);
  } catch {
    memory.set(key, text); // it is kept until the page is loaded again
  }
}

/** The keys of drafts: what two places ask for is one text, and an answer forgets what it was typed for. */
export const draftOf = {
  instruction: (follows: string): string => "instruction:" + follows,
  words: (question: string): string => "words:" + question,
  comments: (id: string): string => "comments:" + id,
  comment: (place: string): string => `comment:${location.pathname}:${place}`,
};

/** readComments is the comments at lines that a draft holds, by their place. */
export function readComments(draft: string): Map<string, string> {
  try {
    return new Map(JSON.parse(draft || "[]") as [string, string][]);
  } catch {
    return new Map();
  }
}

export const writeComments = (all: Map<string, string>): string => (all.size > 0 ? JSON.stringify([...all]) : "");
