// The entries of a conversation that a page keeps. Runs go on for hours, and a result may have
// a megabyte.

import type { TranscriptEntry } from "../types.ts";

const most = { entries: 5000, text: 24_000_000 }; // that are kept; characters of their texts

const textOf = (e: TranscriptEntry): number => (e.message?.content.length ?? 0) + (e.toolCall ? e.toolCall.arguments.length + e.toolCall.result.length : 0);

/** EntryList keeps the newest entries, by number and by length. The newest one stays however long it is. */
export class EntryList {
  entries: TranscriptEntry[] = [];
  dropped = 0; // entries before those
  private text = 0;
  private readonly bound: typeof most;

  constructor(bound = most) {
    this.bound = bound;
  }

  /** add keeps one more. A quarter is dropped at a time, so that places in the list seldom move. */
  add(entry: TranscriptEntry): void {
    this.entries.push(entry);
    this.text += textOf(entry);
    if (this.entries.length <= this.bound.entries && this.text <= this.bound.text) return;
    let gone = 0;
    while (gone < this.entries.length - 1 && (this.entries.length - gone > this.bound.entries * 0.75 || this.text > this.bound.text * 0.75)) {
      this.text -= textOf(this.entries[gone++] as TranscriptEntry);
    }
    this.entries = this.entries.slice(gone);
    this.dropped += gone;
  }
}
