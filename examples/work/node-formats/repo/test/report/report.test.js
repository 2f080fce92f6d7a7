import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBill, formatCents, formatTotals, joinLines, pad, sumRooms, widthOf } from '../../src/report/index.js';

const bookings = [
  { room: 'red', date: '2024-03-01', start: '18:00', end: '19:30', who: 'Choir', cents: 1500 },
  { room: 'attic', date: '2024-03-02', start: '10:00', end: '12:00', who: 'Choir', cents: 250000 },
  { room: 'red', date: '2024-03-02', start: '10:00', end: '11:00', who: 'Yoga', cents: 0 },
];

test('cents are written with two digits', () => {
  assert.deepEqual([0, 5, 1250, 123456789, -99].map(formatCents), ['0.00', '0.05', '12.50', '1,234,567.89', '-0.99']);
});

test('a text is padded by its characters', () => {
  assert.equal(widthOf('né😀'), 3);
  assert.equal(pad('😀', 3), '😀  ');
  assert.equal(pad('ab', 3, 'right'), ' ab');
  assert.equal(pad('abcd', 3), 'abcd');
});

test('lines of a report have no blanks at their ends', () => {
  assert.equal(joinLines(['a  ', '', ' b']), 'a\n\n b\n');
  assert.equal(joinLines([]), '');
});

test('the totals have a line of each room', () => {
  assert.deepEqual(sumRooms(bookings)[1], { room: 'red', bookings: 2, minutes: 150, cents: 1500 });
  assert.equal(formatTotals(bookings), 'attic     2.0 h    2,500.00\nred       2.5 h       15.00\n');
  assert.equal(formatTotals([]), '');
});

test('a bill has the bookings of one and their sum', () => {
  assert.equal(formatBill(bookings, 'Yoga'), 'Bill for Yoga\n\n2024-03-02 10:00-11:00        0.00  red\nSum                           0.00\n');
});
