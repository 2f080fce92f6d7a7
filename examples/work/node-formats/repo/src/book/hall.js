import { freeIn, makeSpan, overlap } from '../time/index.js';
import { makeBooking, spanOf } from './booking.js';

/** A booking that cannot be taken, with those that it would meet. */
export class TakenError extends Error {
  constructor(booking, others) {
    super(`${booking.room} is taken on ${booking.date} by ${others.map((o) => o.who).join(', ')}`);
    this.name = 'TakenError';
    this.others = others;
  }
}

/** All bookings of the hall. */
export class Hall {
  #bookings = new Map();

  constructor(bookings = []) {
    for (const b of bookings) {
      this.add(b);
    }
  }

  /** Takes a booking, unless its room is taken. */
  add(fields) {
    const booking = makeBooking(fields);
    if (this.#bookings.has(booking.id)) {
      throw new RangeError(`there is a booking ${booking.id}`);
    }
    const span = spanOf(booking);
    const others = this.of(booking.room, booking.date).filter((o) => overlap(span, spanOf(o)));
    if (others.length > 0) {
      throw new TakenError(booking, others);
    }
    this.#bookings.set(booking.id, booking);
    return booking;
  }

  /** Takes a booking back; says whether there was one. */
  cancel(id) {
    return this.#bookings.delete(id);
  }

  /** The bookings of a room on a date, by their start. */
  of(room, date) {
    return this.list()
      .filter((b) => b.room === room && b.date === date)
      .sort((a, b) => (a.start < b.start ? -1 : 1));
  }

  /** The free spans of a room on a date. */
  free(room, date, open = makeSpan('08:00', '22:00')) {
    return freeIn(open, this.of(room, date).map(spanOf));
  }

  /** All bookings, in the order in which they were taken. */
  list() {
    return [...this.#bookings.values()];
  }

  /** An id that no booking has. */
  nextId() {
    let n = this.#bookings.size + 1;
    while (this.#bookings.has(`b${n}`)) {
      n++;
    }
    return `b${n}`;
  }
}
