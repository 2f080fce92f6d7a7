import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from '../../src/core/errors.js';
import { createEntry } from '../../src/entry/entry.js';
import { decodeEntry, encodeEntry } from '../../src/store/index.js';

test('an entry is a line with tabs', () => {
  const entry = createEntry({ id: 3, date: '2026-03-02', payer: 'ann', cents: 950, people: ['bob', 'cat'], note: 'a\tb\\c' });
  const line = '3\t2026-03-02\tann\t950\tbob,cat\ta\\tb\\\\c';
  assert.equal(encodeEntry(entry), line);
  assert.deepEqual(decodeEntry(line, 1), entry);
});

test('the line of a fault is named', () => {
  for (const line of ['3\t2026-03-02\tann\t950\tbob', 'x\t2026-03-02\tann\t950\t\ttea', '3\t2026-03-02\tann\t950\t\ta\\x']) {
    assert.throws(() => decodeEntry(line, 7), (error) => error instanceof FormatError && error.line === 7);
  }
});
