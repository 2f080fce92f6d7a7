import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FindError, matchAll, parseMatch, parseOrder } from '../../src/find/index.js';

const records = [
  { id: 'a', room: 'blue', cents: 900 },
  { id: 'b', room: 'red', cents: 1000 },
  { id: 'c', room: 'blue', cents: 1200 },
];

const idsOf = (list) => list.map((r) => r.id).join('');

test('a field matches its value', () => {
  assert.equal(idsOf(records.filter(parseMatch('room = blue'))), 'ac');
  assert.equal(idsOf(records.filter(parseMatch('cents=1000'))), 'b');
  assert.equal(idsOf(records.filter(matchAll([parseMatch('room=blue'), parseMatch('cents=1200')]))), 'c');
});

test('records are sorted by several fields', () => {
  assert.equal(idsOf([...records].sort(parseOrder('room,-cents'))), 'cab');
  assert.equal(idsOf([...records].sort(parseOrder('-cents'))), 'cba');
});

test('an error of a search names its column', () => {
  const at = (column) => (err) => err instanceof FindError && err.column === column;
  assert.throws(() => parseMatch('room'), at(5));
  assert.throws(() => parseMatch('=blue'), at(1));
  assert.throws(() => parseOrder('room,,cents'), at(6));
  assert.throws(() => parseOrder('room,+cents'), at(6));
});
