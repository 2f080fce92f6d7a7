import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createTranslator, listLocales, readLocale } from '../src/index.js';

const dir = mkdtempSync(join(tmpdir(), 'locales-'));
after(() => rmSync(dir, { recursive: true }));

const write = (name, messages) => writeFileSync(join(dir, name), JSON.stringify(messages));
write('en.json', { only: 'only in English', hello: 'Hello {name}', days: { one: '{count} day', other: '{count} days' } });
write('pl.json', {
  hello: 'Witaj, {name}',
  days: { one: '{count} dzień', few: '{count} dni', many: '{count} dni', other: '{count} dnia' },
});
write('notes.json', {});
writeFileSync(join(dir, 'README.txt'), '');

test('locales are found by their files', () => {
  assert.deepEqual(listLocales(dir), ['en', 'pl']);
  assert.ok(listLocales().includes('en'));
});

test('an unknown locale is an error', () => {
  assert.throws(() => readLocale('xx'), RangeError);
  assert.throws(() => readLocale('../package'), RangeError);
});

test('a message is taken from its locale', () => {
  assert.equal(createTranslator('pl', dir)('hello', { name: 'Ola' }), 'Witaj, Ola');
});

test('a plural form is that of the locale', () => {
  const translate = createTranslator('pl', dir);
  assert.equal(translate('days', { count: 1 }), '1 dzień');
  assert.equal(translate('days', { count: 3 }), '3 dni');
  assert.equal(translate('days', { count: 1.5 }), '1,5 dnia');
  assert.throws(() => translate('days'), RangeError);
});

test('a message that is missing is taken from English', () => {
  assert.equal(createTranslator('pl', dir)('only'), 'only in English');
  assert.throws(() => createTranslator('pl', dir)('neither'), RangeError);
});

test('English messages are formatted', () => {
  const translate = createTranslator('en');
  assert.equal(translate('cart.items', { count: 1 }), '1 item in your cart');
  assert.equal(translate('cart.items', { count: 1200 }), '1,200 items in your cart');
  assert.equal(translate('order.title', { order: 'T-1042' }), 'Order T-1042');
});
