/** A command line that cannot be carried out. */
export class UsageError extends Error {
  constructor(message) {
    super(message);
    this.name = 'UsageError';
  }
}

/**
 * Reads the words of a command line: the command, its file, and its options, each with a value.
 * An option in lists may be given several times, and is a list.
 */
export function parseArgs(words, { known, lists = [] }) {
  const options = Object.fromEntries(lists.map((name) => [name, []]));
  const rest = [];
  for (let i = 0; i < words.length; i++) {
    if (!words[i].startsWith('--')) {
      rest.push(words[i]);
      continue;
    }
    const name = words[i].slice(2);
    if (!known.includes(name) && !lists.includes(name)) {
      throw new UsageError(`there is no option --${name}`);
    }
    i++;
    if (i === words.length) {
      throw new UsageError(`--${name} needs a value`);
    }
    if (lists.includes(name)) {
      options[name].push(words[i]);
    } else {
      options[name] = words[i];
    }
  }
  const [command, file, ...more] = rest;
  if (!command || !file || more.length > 0) {
    throw new UsageError('usage: hall COMMAND FILE [OPTIONS]');
  }
  return { command, file, options };
}
