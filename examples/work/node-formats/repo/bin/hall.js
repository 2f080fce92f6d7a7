#!/usr/bin/env node
import { run } from '../src/cli/main.js';

try {
  process.stdout.write(await run(process.argv.slice(2)));
} catch (err) {
  process.stderr.write(`hall: ${err.message}\n`);
  process.exitCode = 1;
}
