import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEntry } from '../../src/entry/entry.js';
import { countBalances, formatBalance } from '../../src/report/balance.js';
import { formatCsv } from '../../src/report/csv.js';
import { formatEntries } from '../../src/report/entries.js';
import { formatMonth } from '../../src/report/month.js';

const entries = [
  { id: 1, date: '2026-03-02', payer: 'ann', cents: 2400, people: ['bob', 'cat'], note: 'groceries' },
  { id: 2, date: '2026-03-03', payer: 'bob', cents: 1000, note: 'bulbs, "warm"' },
].map(createEntry);

test('entries are listed in columns', () => {
  const [titles, first, second] = formatEntries(entries).split('\n');
  assert.match(titles, /^id  date +paid by +amount  for +note/);
  assert.match(first, /^ 1  2026-03-02  ann +24\.00  bob, cat  groceries/);
  assert.match(second, /^ 2  2026-03-03  bob +10\.00  all +bulbs, "warm"/);
  assert.equal(formatEntries([]), 'no entries\n');
});

test('a month says what each one paid', () => {
  assert.equal(formatMonth(entries), 'paid by  amount\nann       24.00\nbob       10.00\ntotal     34.00\n');
});

test('balances are even in sum', () => {
  const balances = countBalances(entries, ['ann', 'bob', 'cat']);
  assert.deepEqual([...balances], [['ann', 2066], ['bob', -533], ['cat', -1533]]);
  assert.equal(formatBalance(entries, ['ann', 'bob', 'cat']), 'cat pays ann 15.33\nbob pays ann 5.33\n');
  assert.equal(formatBalance([], ['ann']), 'all are even\n');
});

test('CSV quotes what needs it', () => {
  const [titles, first, second] = formatCsv(entries).split('\n');
  assert.match(titles, /^id,date,payer,amount,people,note/);
  assert.match(first, /^1,2026-03-02,ann,24\.00,bob cat,groceries/);
  assert.match(second, /^2,2026-03-03,bob,10\.00,,"bulbs, ""warm"""/);
});
