import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hall, makeBooking, TakenError } from '../../src/book/index.js';
import { formatSpan } from '../../src/time/index.js';

const chess = { id: 'b1', room: 'blue', date: '2024-03-01', start: '18:00', end: '20:00', who: 'Chess club', cents: '2400' };

test('a booking is checked', () => {
  assert.equal(makeBooking(chess).cents, 2400);
  assert.throws(() => makeBooking({ ...chess, who: ' ' }), TypeError);
  assert.throws(() => makeBooking({ ...chess, date: '2024-02-30' }), RangeError);
  assert.throws(() => makeBooking({ ...chess, end: '18:00' }), RangeError);
  assert.throws(() => makeBooking({ ...chess, cents: '12.5' }), RangeError);
});

test('a room is taken once at a time', () => {
  const hall = new Hall([chess]);
  assert.throws(() => hall.add({ ...chess, id: 'b2', start: '19:00', end: '21:00', who: 'Choir' }), (err) => {
    assert.ok(err instanceof TakenError);
    assert.deepEqual(err.others.map((o) => o.id), ['b1']);
    return true;
  });
  hall.add({ ...chess, id: 'b2', start: '20:00', end: '21:00', who: 'Choir' });
  hall.add({ ...chess, id: 'b3', room: 'red' });
  assert.deepEqual(hall.of('blue', '2024-03-01').map((b) => b.who), ['Chess club', 'Choir']);
});

test('an id is given once', () => {
  const hall = new Hall([chess, { ...chess, id: 'b3', room: 'red' }]);
  assert.throws(() => hall.add({ ...chess, room: 'green' }), RangeError);
  assert.equal(hall.nextId(), 'b4');
});

test('a cancelled booking leaves its room free', () => {
  const hall = new Hall([chess]);
  assert.deepEqual(hall.free('blue', '2024-03-01').map(formatSpan), ['08:00-18:00', '20:00-22:00']);
  assert.equal(hall.cancel('b1'), true);
  assert.equal(hall.cancel('b1'), false);
  assert.deepEqual(hall.free('blue', '2024-03-01').map(formatSpan), ['08:00-22:00']);
});
