import { formatAmount } from '../core/money.js';

/** Writes entries as CSV, with a line of titles. */
export function formatCsv(entries) {
  const rows = [['id', 'date', 'payer', 'amount', 'people', 'note']];
  for (const { id, date, payer, cents, people, note } of entries) {
    rows.push([String(id), date, payer, formatAmount(cents), people.join(' '), note]);
  }
  return rows.map((row) => `${row.map(quote).join(',')}\n`).join('');
}

function quote(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
