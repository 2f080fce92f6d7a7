import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../src/cli/main.js';
import { FormatError, UsageError } from '../../src/core/errors.js';

async function makeEnv(t) {
  const dir = await mkdtemp(join(tmpdir(), 'kitty-'));
  t.after(() => rm(dir, { recursive: true }));
  return { KITTY_FILE: join(dir, 'kitty.txt'), KITTY_TODAY: '2026-03-09' };
}

test('entries are added, listed and removed', async (t) => {
  const env = await makeEnv(t);
  assert.equal(await run(['add', '--by', 'ann', '24.00 groceries for bob on 2026-03-02'], env), '1\n');
  assert.equal(await run(['add', '--by', 'bob', '9.50', 'light', 'bulbs'], env), '2\n');
  assert.match(await run(['list', '--person', 'ann', '--month', '2026-03'], env), /groceries[^]*light bulbs/);
  assert.equal(await run(['month', '2026-03'], env), 'paid by  amount\nann       24.00\nbob        9.50\ntotal     33.50\n');
  assert.equal(await run(['balance'], env), 'bob pays ann 19.25\n');
  assert.match(await run(['export', '--month', '2026-03'], env), /^id,.*\n1,.*\n2,.*\n$/);
  assert.equal(await run(['remove', '1'], env), '');
  assert.match(await run(['list'], env), /^id .*\n 2 .*\n$/);
});

test('a command that fails leaves the file', async (t) => {
  const env = await makeEnv(t);
  await run(['add', '--by', 'ann', '5 tea'], env);
  const text = await readFile(env.KITTY_FILE, 'utf8');
  await assert.rejects(run(['add', '--by', 'ann', 'tea'], env), FormatError);
  for (const words of [['add', '5 tea'], ['remove', '7'], ['remove', 'x'], ['list', 'x'], ['list', '--who', 'ann'], ['sum']]) {
    await assert.rejects(run(words, env), UsageError, words.join(' '));
  }
  assert.equal(await readFile(env.KITTY_FILE, 'utf8'), text);
});

test('help names each command', async () => {
  assert.match(await run([]), /^kitty add [^]*kitty list [^]*kitty remove [^]*kitty month [^]*kitty balance\n[^]*kitty export/);
});
