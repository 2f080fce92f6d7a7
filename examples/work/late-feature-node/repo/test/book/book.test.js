import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Book, createFilter } from '../../src/book/index.js';
import { FormatError } from '../../src/core/errors.js';

function makeBook() {
  const book = new Book();
  book.add({ date: '2026-03-05', payer: 'ann', cents: 2400, people: ['bob'], note: 'groceries' });
  book.add({ date: '2026-03-01', payer: 'bob', cents: 950, note: 'bulbs' });
  book.add({ date: '2026-04-01', payer: 'cat', cents: 300, people: ['ann'], note: 'stamps' });
  return book;
}

const ids = (entries) => entries.map((entry) => entry.id);

test('entries are numbered and listed by date', () => {
  const book = makeBook();
  assert.deepEqual(ids(book.list()), [2, 1, 3]);
  assert.ok(book.remove(2));
  assert.ok(!book.remove(2));
  assert.equal(book.add({ date: '2026-03-01', payer: 'dan', cents: 1, note: 'x' }).id, 4);
  assert.deepEqual(book.people(), ['ann', 'bob', 'cat', 'dan']);
});

test('a number is used once', () => {
  const [entry] = makeBook().list();
  assert.throws(() => new Book([entry, entry]), FormatError);
});

test('entries are chosen by month and person', () => {
  const book = makeBook();
  assert.deepEqual(ids(book.list(createFilter({ month: '2026-03' }))), [2, 1]);
  assert.deepEqual(ids(book.list(createFilter({ person: 'Bob' }))), [2, 1]);
  assert.deepEqual(ids(book.list(createFilter({ month: '2026-04', person: 'bob' }))), []);
  assert.throws(() => createFilter({ month: 'May' }), FormatError);
});
