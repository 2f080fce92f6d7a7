import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FormatError } from '../../src/core/errors.js';
import { loadBook, saveBook } from '../../src/store/index.js';

test('a book is saved and loaded', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'kitty-'));
  t.after(() => rm(dir, { recursive: true }));
  const path = join(dir, 'kitty.txt');
  const book = await loadBook(path);
  assert.deepEqual(book.list(), []);
  book.add({ date: '2026-03-02', payer: 'ann', cents: 950, note: 'tea' });
  await saveBook(path, book);
  assert.equal(await readFile(path, 'utf8'), '1\t2026-03-02\tann\t950\t\ttea\n');
  assert.deepEqual((await loadBook(path)).list(), book.list());
  await writeFile(path, '1\t2026-03-02\tann\t950\t\ttea\n\nwhat\n');
  await assert.rejects(loadBook(path), (error) => error instanceof FormatError && error.line === 3);
});
