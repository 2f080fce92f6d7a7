import { makeSpan, parseDate } from '../time/index.js';

/** The fields of a booking, in the order in which files have them. */
export const FIELDS = ['id', 'room', 'date', 'start', 'end', 'who', 'cents'];

/** Checks a booking and returns it: all fields but cents are texts. */
export function makeBooking({ id, room, date, start, end, who, cents = 0 }) {
  for (const [name, value] of Object.entries({ id, room, who })) {
    if (typeof value !== 'string' || value.trim() === '') {
      throw new TypeError(`a booking needs its ${name}`);
    }
  }
  parseDate(date);
  makeSpan(start, end);
  if (!Number.isInteger(Number(cents)) || Number(cents) < 0) {
    throw new RangeError(`no price in cents: ${cents}`);
  }
  return { id, room, date, start, end, who, cents: Number(cents) };
}

/** The span of a booking within its day. */
export function spanOf(booking) {
  return makeSpan(booking.start, booking.end);
}
