import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_NAMES, dayOf, formatDate, formatTime, parseDate, parseTime, weekdayOf } from '../../src/time/index.js';

test('a date is read and written', () => {
  assert.equal(parseDate('1970-01-02'), 1);
  for (const text of ['1969-12-31', '2000-02-29', '2024-12-31']) {
    assert.equal(formatDate(parseDate(text)), text);
  }
  assert.equal(formatDate(dayOf(2024, 3, 1) - 1), '2024-02-29');
});

test('what is no date is a RangeError', () => {
  for (const text of ['', '2024-1-31', '2023-02-29', '2024-04-31', '2024-13-01', '31.01.2024', undefined]) {
    assert.throws(() => parseDate(text), RangeError, String(text));
  }
});

test('the week begins on Monday', () => {
  assert.equal(DAY_NAMES[weekdayOf(parseDate('2024-01-01'))], 'mon');
  assert.equal(DAY_NAMES[weekdayOf(parseDate('1970-01-01'))], 'thu');
  assert.equal(DAY_NAMES[weekdayOf(parseDate('1969-12-28'))], 'sun');
});

test('a time of day is read and written', () => {
  assert.equal(parseTime('09:05'), 545);
  assert.equal(parseTime('24:00'), 1440);
  assert.equal(formatTime(545), '09:05');
  for (const text of ['9:05', '24:01', '12:60', 'noon']) {
    assert.throws(() => parseTime(text), RangeError, text);
  }
});
