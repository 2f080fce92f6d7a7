import { formatAmount } from '../core/money.js';
import { formatTable } from './table.js';

/** Lists entries for people. */
export function formatEntries(entries) {
  if (entries.length === 0) {
    return 'no entries\n';
  }
  const rows = entries.map((entry) => [
    String(entry.id),
    entry.date,
    entry.payer,
    formatAmount(entry.cents),
    entry.people.length === 0 ? 'all' : entry.people.join(', '),
    entry.note.replace(/\s+/g, ' '),
  ]);
  return formatTable(['id', 'date', 'paid by', 'amount', 'for', 'note'], rows, [0, 3]);
}
