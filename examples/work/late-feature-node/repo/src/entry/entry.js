import { checkDate } from '../core/dates.js';
import { FormatError } from '../core/errors.js';
import { checkName } from './names.js';

/**
 * Makes an entry. One without people is for all.
 * Entries do not change; see Book for what replaces them.
 */
export function createEntry({ id, date, payer, cents, people = [], note }) {
  if (!Number.isSafeInteger(id) || id < 1) {
    throw new FormatError(`no number of an entry: ${id}`);
  }
  if (!Number.isSafeInteger(cents) || cents < 1) {
    throw new FormatError(`no cents: ${cents}`);
  }
  if (!note || note.trim() !== note) {
    throw new FormatError('an entry needs a note');
  }
  return Object.freeze({
    id,
    date: checkDate(date),
    payer: checkName(payer),
    cents,
    people: Object.freeze(people.map(checkName)),
    note,
  });
}

/** Orders entries by date, those of a date by number. */
export function compareEntries(a, b) {
  if (a.date !== b.date) {
    return a.date < b.date ? -1 : 1;
  }
  return a.id - b.id;
}
