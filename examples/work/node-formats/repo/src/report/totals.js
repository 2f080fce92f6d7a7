import { spanOf } from '../book/index.js';
import { lengthOf } from '../time/index.js';
import { formatCents } from './money.js';
import { joinLines, pad, widthOf } from './text.js';

/** The bookings, minutes and cents of each room, by its name. */
export function sumRooms(bookings) {
  const rooms = new Map();
  for (const b of bookings) {
    const sum = rooms.get(b.room) ?? { room: b.room, bookings: 0, minutes: 0, cents: 0 };
    sum.bookings++;
    sum.minutes += lengthOf(spanOf(b));
    sum.cents += b.cents;
    rooms.set(b.room, sum);
  }
  return [...rooms.values()].sort((a, b) => (a.room < b.room ? -1 : 1));
}

/** A line of each room: its hours and its income. */
export function formatTotals(bookings) {
  const sums = sumRooms(bookings);
  const width = Math.max(0, ...sums.map((s) => widthOf(s.room)));
  return joinLines(sums.map((s) => {
    const hours = (s.minutes / 60).toFixed(1);
    return `${pad(s.room, width)}  ${pad(hours, 6, 'right')} h  ${pad(formatCents(s.cents), 10, 'right')}`;
  }));
}
