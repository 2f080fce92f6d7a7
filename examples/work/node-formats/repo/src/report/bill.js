import { formatCents } from './money.js';
import { joinLines, pad } from './text.js';

/** The bill of one who booked: a line of each booking, and the sum. */
export function formatBill(bookings, who) {
  const own = bookings.filter((b) => b.who === who);
  const sum = own.reduce((cents, b) => cents + b.cents, 0);
  const lines = own.map((b) => `${b.date} ${b.start}-${b.end}  ${pad(formatCents(b.cents), 10, 'right')}  ${b.room}`);
  return joinLines([`Bill for ${who}`, '', ...lines, `${pad('Sum', 22)}  ${pad(formatCents(sum), 10, 'right')}`]);
}
