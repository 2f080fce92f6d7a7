import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSpan, freeIn, lengthOf, makeSpan, overlap } from '../../src/time/index.js';

test('spans that touch do not overlap', () => {
  const early = makeSpan('09:00', '10:00');
  assert.equal(overlap(early, makeSpan('10:00', '11:00')), false);
  assert.equal(overlap(early, makeSpan('09:59', '11:00')), true);
  assert.equal(lengthOf(early), 60);
});

test('a span ends after it starts', () => {
  assert.throws(() => makeSpan('10:00', '10:00'), RangeError);
});

test('free spans lie between those that are taken', () => {
  const day = makeSpan('08:00', '12:00');
  const taken = [makeSpan('10:00', '11:00'), makeSpan('07:00', '08:30'), makeSpan('10:30', '11:30')];
  assert.deepEqual(freeIn(day, taken).map(formatSpan), ['08:30-10:00', '11:30-12:00']);
  assert.deepEqual(freeIn(day, [makeSpan('07:00', '13:00')]), []);
  assert.deepEqual(freeIn(day, [makeSpan('13:00', '14:00')]).map(formatSpan), ['08:00-12:00']);
});
