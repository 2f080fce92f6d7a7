export { formatBill } from './bill.js';
export { formatCents } from './money.js';
export { joinLines, pad, widthOf } from './text.js';
export { formatTotals, sumRooms } from './totals.js';
