import { FormatError } from '../core/errors.js';
import { createEntry } from '../entry/entry.js';

const ESCAPES = { '\t': '\\t', '\n': '\\n', '\\': '\\\\' };
const MEANINGS = { t: '\t', n: '\n', '\\': '\\' };

/** Writes an entry as a line, without its line break. */
export function encodeEntry(entry) {
  const { id, date, payer, cents, people, note } = entry;
  return [id, date, payer, cents, people.join(','), escapeText(note)].join('\t');
}

/** Reads the line of an entry. */
export function decodeEntry(line, number) {
  const columns = line.split('\t');
  if (columns.length !== 6) {
    throw new FormatError(`an entry has six columns, not ${columns.length}`, number);
  }
  const [id, date, payer, cents, people, note] = columns;
  try {
    return createEntry({
      id: readNumber(id),
      date,
      payer,
      cents: readNumber(cents),
      people: people === '' ? [] : people.split(','),
      note: unescapeText(note),
    });
  } catch (error) {
    throw error instanceof FormatError ? new FormatError(error.message, number) : error;
  }
}

function readNumber(text) {
  if (!/^\d+$/.test(text)) {
    throw new FormatError(`no number: ${text}`);
  }
  return Number(text);
}

function escapeText(text) {
  return text.replace(/[\t\n\\]/g, (c) => ESCAPES[c]);
}

function unescapeText(text) {
  return text.replace(/\\(.?)/g, (all, c) => {
    if (!Object.hasOwn(MEANINGS, c)) {
      throw new FormatError(`nobody knows ${all}`);
    }
    return MEANINGS[c];
  });
}
