import { FindError } from './errors.js';

/** A function that says whether a record has this value in a field; reads texts such as room=blue. */
export function parseMatch(text) {
  const at = text.indexOf('=');
  if (at < 0) {
    throw new FindError('a field and its value are parted by =', text.length + 1);
  }
  const field = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim();
  if (!/^[a-z]+$/.test(field)) {
    throw new FindError('no field', 1);
  }
  return (record) => String(record[field] ?? '') === value;
}

/** A function that says whether all of several functions hold. */
export function matchAll(matches) {
  return (record) => matches.every((m) => m(record));
}
