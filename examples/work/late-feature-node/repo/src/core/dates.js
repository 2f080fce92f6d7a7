import { FormatError } from './errors.js';

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** Tells if a text is a day of the calendar. */
export function isDate(text) {
  const found = DATE.exec(text);
  if (!found) {
    return false;
  }
  const day = new Date(Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])));
  return day.toISOString().slice(0, 10) === text;
}

/** Gives the date, or throws. */
export function checkDate(text) {
  if (!isDate(text)) {
    throw new FormatError(`no date: ${text}`);
  }
  return text;
}

/** Gives the month, or throws. */
export function checkMonth(text) {
  if (!MONTH.test(text)) {
    throw new FormatError(`no month: ${text}`);
  }
  return text;
}

/** Gives the month of a date. */
export function monthOf(date) {
  return date.slice(0, 7);
}

/** Gives the date of today, in local time. */
export function today(now = new Date()) {
  const two = (n) => String(n).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
