import { FormatError } from './errors.js';

const AMOUNT = /^(\d{1,9})(?:\.(\d{1,2}))?$/;

/** Reads an amount such as 24, 24.5 or 24.50; gives cents. */
export function parseAmount(text) {
  const found = AMOUNT.exec(text);
  if (!found) {
    throw new FormatError(`no amount: ${text}`);
  }
  const cents = Number(found[1]) * 100 + Number((found[2] ?? '').padEnd(2, '0'));
  if (cents === 0) {
    throw new FormatError('an amount is more than nothing');
  }
  return cents;
}

/** Writes cents with two decimals. */
export function formatAmount(cents) {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Splits cents into parts that differ by a cent at most; the first parts get the larger ones. */
export function splitCents(cents, parts) {
  const least = Math.floor(cents / parts);
  return Array.from({ length: parts }, (_, i) => least + (i < cents - least * parts ? 1 : 0));
}
