/** Names of the days of the week, which begins on Monday. */
export const DAY_NAMES = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const MS_OF_DAY = 24 * 60 * 60 * 1000;

/** The days from 1970-01-01 to a date such as 2024-01-31. */
export function parseDate(text) {
  const m = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!m) {
    throw new RangeError(`no date: ${text}`);
  }
  const day = dayOf(Number(m[1]), Number(m[2]), Number(m[3]));
  if (formatDate(day) !== text) {
    throw new RangeError(`there is no such day: ${text}`);
  }
  return day;
}

/** The day of a year, a month (from 1) and a day of the month (from 1). */
export function dayOf(year, month, date) {
  return Date.UTC(year, month - 1, date) / MS_OF_DAY;
}

/** The date of a day, as parseDate reads it. */
export function formatDate(day) {
  return new Date(day * MS_OF_DAY).toISOString().slice(0, 10);
}

/** The day of the week: 0 is Monday, 6 is Sunday. */
export function weekdayOf(day) {
  return (((day + 3) % 7) + 7) % 7;
}

/** The minutes from midnight to a time such as 18:30. 24:00 is the end of the day. */
export function parseTime(text) {
  const m = /^(\d{2}):(\d{2})$/.exec(text);
  const minutes = m ? Number(m[1]) * 60 + Number(m[2]) : NaN;
  if (!m || Number(m[2]) > 59 || minutes > 24 * 60) {
    throw new RangeError(`no time: ${text}`);
  }
  return minutes;
}

/** The time of day after so many minutes, as parseTime reads it. */
export function formatTime(minutes) {
  const hours = Math.floor(minutes / 60);
  return `${String(hours).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
