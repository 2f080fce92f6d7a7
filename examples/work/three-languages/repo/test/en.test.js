import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPlaceholders, listPluralForms, readLocale } from '../src/index.js';

const entries = Object.entries(readLocale('en'));
const plurals = entries.filter(([, message]) => typeof message === 'object');

test('a key is a path with dots', () => {
  for (const [key] of entries) {
    assert.match(key, /^[a-z]+(\.[a-zA-Z]+)+$/);
  }
});

test('no English message is empty', () => {
  for (const [key, message] of entries) {
    for (const text of typeof message === 'string' ? [message] : Object.values(message)) {
      assert.notEqual(text.trim(), '', key);
    }
  }
});

test('English messages have their plural forms', () => {
  for (const [key, message] of plurals) {
    assert.deepEqual(Object.keys(message).sort(), listPluralForms('en'), key);
  }
});

test('plural forms of a message have the same placeholders', () => {
  for (const [key, { one, other }] of plurals) {
    assert.ok(listPlaceholders(other).includes('count'), key);
    assert.deepEqual(listPlaceholders(one), listPlaceholders(other), key);
  }
});
