import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from '../../src/core/errors.js';
import { compareEntries, createEntry } from '../../src/entry/entry.js';
import { parseNames } from '../../src/entry/names.js';

const fields = { id: 3, date: '2026-03-02', payer: 'Ann', cents: 950, people: ['bob'], note: 'light bulbs' };

test('an entry has names in lower case', () => {
  const entry = createEntry(fields);
  assert.equal(entry.payer, 'ann');
  assert.deepEqual(entry.people, ['bob']);
  assert.ok(Object.isFrozen(entry));
});

test('an entry is checked', () => {
  for (const wrong of [{ id: 0 }, { date: '2026-02-30' }, { payer: 'a b' }, { cents: 1.5 }, { note: '' }]) {
    assert.throws(() => createEntry({ ...fields, ...wrong }), FormatError);
  }
});

test('entries are ordered by date and number', () => {
  const order = [[9, '2026-03-01'], [4, '2026-03-02'], [10, '2026-03-02']];
  const entries = order.map(([id, date]) => createEntry({ ...fields, id, date }));
  assert.deepEqual([entries[2], entries[0], entries[1]].sort(compareEntries), entries);
});

test('names are parted by commas, each counts once', () => {
  assert.deepEqual(parseNames('cat, Bob,cat'), ['cat', 'bob']);
  assert.throws(() => parseNames('cat,'), FormatError);
});
