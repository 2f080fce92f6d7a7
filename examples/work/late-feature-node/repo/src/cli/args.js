import { UsageError } from '../core/errors.js';

/** Reads the words behind a command: options that are known, each with a value, and other words. */
export function parseArgs(words, known) {
  const options = {};
  const rest = [];
  for (let i = 0; i < words.length; i++) {
    if (!words[i].startsWith('--')) {
      rest.push(words[i]);
      continue;
    }
    const name = words[i].slice(2);
    if (!known.includes(name)) {
      throw new UsageError(`there is no option --${name}`);
    }
    if (Object.hasOwn(options, name)) {
      throw new UsageError(`--${name} stands there twice`);
    }
    i++;
    if (i === words.length) {
      throw new UsageError(`--${name} needs a value`);
    }
    options[name] = words[i];
  }
  return { options, rest };
}

/** Gives the number of an entry that somebody wrote. */
export function readId(text) {
  if (!/^[1-9]\d*$/.test(text)) {
    throw new UsageError(`no number of an entry: ${text}`);
  }
  return Number(text);
}
