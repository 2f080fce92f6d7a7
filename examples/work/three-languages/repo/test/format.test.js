import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMessage, listPlaceholders } from '../src/index.js';

test('values take the place of placeholders', () => {
  assert.equal(formatMessage('{b} after {a}', { a: 'x', b: 'y' }), 'y after x');
  assert.equal(formatMessage('{a}, {a}', { a: 0 }), '0, 0');
  assert.equal(formatMessage('none at all'), 'none at all');
});

test('a value is taken as it is', () => {
  assert.equal(formatMessage('{a}', { a: '$& {b}' }), '$& {b}');
});

test('a missing value is an error', () => {
  assert.throws(() => formatMessage('for {name}', {}), RangeError);
  assert.throws(() => formatMessage('{toString}'), RangeError);
});

test('placeholders are listed once and sorted', () => {
  assert.deepEqual(listPlaceholders('{b} {a} {b}'), ['a', 'b']);
  assert.deepEqual(listPlaceholders('{} { a }'), []);
});
