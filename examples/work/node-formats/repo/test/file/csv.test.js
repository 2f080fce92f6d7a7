import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CsvError, formatRecords, parseRecords, parseRows } from '../../src/file/index.js';

test('cells in quotes keep commas, quotes and line breaks', () => {
  assert.deepEqual(parseRows('a,"b, c"\r\n"say ""hi""","two\nlines"\n'), [['a', 'b, c'], ['say "hi"', 'two\nlines']]);
});

test('empty lines are no rows', () => {
  assert.deepEqual(parseRows('\na,\n\n,b'), [['a', ''], ['', 'b']]);
  assert.deepEqual(parseRecords(''), []);
});

test('an error of a CSV text names its line', () => {
  assert.throws(() => parseRows('a\nb"c'), (err) => err instanceof CsvError && err.line === 2);
  assert.throws(() => parseRows('a\n"b'), (err) => err instanceof CsvError && err.line === 2);
  assert.throws(() => parseRecords('a,b\n1,2\n3'), (err) => err instanceof CsvError && err.line === 3);
});

test('records are written as they are read', () => {
  const records = [{ who: 'Smith, Ann', note: 'says "no"' }, { who: 'Bo', note: '' }];
  assert.deepEqual(parseRecords(formatRecords(records, ['who', 'note'])), records);
  assert.equal(formatRecords([{ a: 7 }], ['a', 'b']), 'a,b\n7,\n');
});
