import { isDate } from '../core/dates.js';
import { FormatError } from '../core/errors.js';
import { parseAmount } from '../core/money.js';
import { parseNames } from './names.js';

/**
 * Reads AMOUNT NOTE for PEOPLE on DATE; gives {cents, note, people, date}.
 * Without a date it is the one that is given.
 */
export function parseEntryText(text, defaultDate) {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) {
    throw new FormatError('an entry needs an amount and a note');
  }
  const cents = parseAmount(words.shift());
  const date = takeDate(words) ?? defaultDate;
  const people = takePeople(words);
  if (words.length === 0) {
    throw new FormatError('an entry needs a note');
  }
  return { cents, note: words.join(' '), people, date };
}

/** Takes on DATE from the end of the words. */
function takeDate(words) {
  if (words.at(-2) !== 'on' || !isDate(words.at(-1))) {
    return undefined;
  }
  return words.splice(-2)[1];
}

/** Takes for PEOPLE from the end of the words. */
function takePeople(words) {
  const at = words.lastIndexOf('for');
  if (at < 0) {
    return [];
  }
  return parseNames(words.splice(at).slice(1).join(' '));
}
