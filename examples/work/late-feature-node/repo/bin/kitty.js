#!/usr/bin/env node
import { FormatError, UsageError } from '../src/core/errors.js';
import { run } from '../src/cli/main.js';

try {
  process.stdout.write(await run(process.argv.slice(2), process.env));
} catch (error) {
  if (!(error instanceof FormatError || error instanceof UsageError)) {
    throw error;
  }
  process.stderr.write(`kitty: ${error.message}\n`);
  process.exitCode = 1;
}
