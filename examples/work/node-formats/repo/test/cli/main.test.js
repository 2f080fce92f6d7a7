import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseArgs, UsageError } from '../../src/cli/args.js';
import { run } from '../../src/cli/main.js';

test('options have values', () => {
  const rules = { known: ['who'], lists: ['where'] };
  assert.deepEqual(parseArgs(['list', 'f.csv', '--where', 'a=b', '--who', 'me', '--where', 'c=d'], rules), {
    command: 'list',
    file: 'f.csv',
    options: { where: ['a=b', 'c=d'], who: 'me' },
  });
  for (const words of [['list'], ['list', 'f', 'g'], ['list', 'f', '--what', 'x'], ['list', 'f', '--who']]) {
    assert.throws(() => parseArgs(words, rules), UsageError, words.join(' '));
  }
});

test('bookings are added, listed and cancelled', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hall-'));
  const file = join(dir, 'bookings.csv');
  const add = (room, start, end, who) =>
    run(['add', file, '--room', room, '--date', '2024-03-01', '--start', start, '--end', end, '--who', who, '--cents', '1200']);
  try {
    assert.equal(await add('blue', '18:00', '20:00', 'Chess club'), 'b1\n');
    assert.equal(await add('blue', '20:00', '21:00', 'Choir'), 'b2\n');
    await assert.rejects(add('blue', '19:00', '20:30', 'Yoga'), /taken on 2024-03-01 by Chess club, Choir/);
    assert.equal(
      await run(['list', file, '--order', '-start', '--where', 'room=blue']),
      'id,room,date,start,end,who,cents\nb2,blue,2024-03-01,20:00,21:00,Choir,1200\nb1,blue,2024-03-01,18:00,20:00,Chess club,1200\n',
    );
    assert.equal(await run(['totals', file]), 'blue     3.0 h       24.00\n');
    assert.match(await run(['bill', file, '--who', 'Choir']), /^Sum +12\.00$/m);
    assert.equal(await run(['cancel', file, '--id', 'b1']), '');
    assert.equal((await readFile(file, 'utf8')).split('\n').length, 3);
    await assert.rejects(run(['cancel', file, '--id', 'b1']), UsageError);
    await assert.rejects(run(['toString', file]), UsageError);
  } finally {
    await rm(dir, { recursive: true });
  }
});
