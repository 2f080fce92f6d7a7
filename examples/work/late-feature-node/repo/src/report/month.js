import { formatAmount } from '../core/money.js';
import { formatTable } from './table.js';

/** Says what each one paid, and the sum of all. */
export function formatMonth(entries) {
  const sums = new Map();
  for (const { payer, cents } of entries) {
    sums.set(payer, (sums.get(payer) ?? 0) + cents);
  }
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, cents]) => [name, formatAmount(cents)]);
  rows.push(['total', formatAmount([...sums.values()].reduce((sum, cents) => sum + cents, 0))]);
  return formatTable(['paid by', 'amount'], rows, [1]);
}
