import { FormatError } from '../core/errors.js';
import { compareEntries, createEntry } from '../entry/entry.js';

/** All entries of a flat. */
export class Book {
  #entries = new Map();

  constructor(entries = []) {
    for (const entry of entries) {
      if (this.#entries.has(entry.id)) {
        throw new FormatError(`two entries have the number ${entry.id}`);
      }
      this.#entries.set(entry.id, entry);
    }
  }

  /** Adds an entry of these fields, with the next number. */
  add(fields) {
    const entry = createEntry({ ...fields, id: this.#nextId() });
    this.#entries.set(entry.id, entry);
    return entry;
  }

  /** Removes an entry; tells if there was one. */
  remove(id) {
    return this.#entries.delete(id);
  }

  /** Lists the entries that a filter takes, in their order. */
  list(filter = () => true) {
    return [...this.#entries.values()].filter(filter).sort(compareEntries);
  }

  /** Lists all who stand in the book, by name. */
  people() {
    const names = new Set();
    for (const { payer, people } of this.#entries.values()) {
      [payer, ...people].forEach((name) => names.add(name));
    }
    return [...names].sort();
  }

  #nextId() {
    return Math.max(0, ...this.#entries.keys()) + 1;
  }
}
