import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDate, checkMonth, isDate, monthOf, today } from '../../src/core/dates.js';
import { FormatError } from '../../src/core/errors.js';

test('a date is a day of the calendar', () => {
  assert.ok(isDate('2028-02-29'));
  assert.ok(!isDate('2026-02-29'));
  assert.ok(!isDate('2026-3-1'));
  assert.throws(() => checkDate('tomorrow'), FormatError);
});

test('a month has two digits', () => {
  assert.equal(checkMonth('2026-03'), '2026-03');
  assert.equal(monthOf('2026-03-02'), '2026-03');
  assert.throws(() => checkMonth('2026-13'), FormatError);
});

test('today is the local date', () => {
  assert.equal(today(new Date(2026, 2, 9, 23, 59)), '2026-03-09');
});
