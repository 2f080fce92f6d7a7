import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormatError } from '../../src/core/errors.js';
import { formatAmount, parseAmount, splitCents } from '../../src/core/money.js';

test('amounts are read as cents', () => {
  assert.equal(parseAmount('24'), 2400);
  assert.equal(parseAmount('24.5'), 2450);
  assert.equal(parseAmount('0.05'), 5);
  for (const text of ['', '-3', '1.234', '1,20', '0.00']) {
    assert.throws(() => parseAmount(text), FormatError, text);
  }
});

test('cents are written with two decimals', () => {
  assert.equal(formatAmount(2450), '24.50');
  assert.equal(formatAmount(-7), '-0.07');
});

test('the parts of an amount differ by a cent at most', () => {
  assert.deepEqual(splitCents(100, 3), [34, 33, 33]);
  assert.deepEqual(splitCents(2, 4), [1, 1, 0, 0]);
});
