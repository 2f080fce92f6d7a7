import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from '../../src/core/errors.js';
import { parseEntryText } from '../../src/entry/parse.js';

const parse = (text) => parseEntryText(text, '2026-03-09');

test('an entry is read with people and date', () => {
  const { cents, note, people, date } = parse('24.00 groceries for bob, cat on 2026-03-02');
  assert.deepEqual({ cents, note, people, date }, { cents: 2400, note: 'groceries', people: ['bob', 'cat'], date: '2026-03-02' });
});

test('people and date may be missing', () => {
  const { note, people, date } = parse(' 9.5  light   bulbs ');
  assert.deepEqual({ note, people, date }, { note: 'light bulbs', people: [], date: '2026-03-09' });
});

test('on without a date belongs to the note', () => {
  assert.equal(parse('12 tickets on sale').note, 'tickets on sale');
});

test('an entry without amount or note is refused', () => {
  for (const text of ['', 'groceries', '24.00', '24.00 for bob', '24.00 on 2026-03-02', '5 tea for b@b']) {
    assert.throws(() => parse(text), FormatError, text);
  }
});
