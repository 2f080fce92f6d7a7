import { UsageError } from '../core/errors.js';
import { loadBook, saveBook } from '../store/index.js';
import { today } from '../core/dates.js';
import { parseArgs } from './args.js';
import { COMMANDS } from './commands/index.js';

/** Carries out a command line; gives what it prints. */
export async function run(words, env = {}) {
  const [name, ...others] = words;
  if (name === undefined || name === 'help') {
    return formatHelp();
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    throw new UsageError(`there is no command ${name}`);
  }
  const command = COMMANDS[name];
  const { options, rest } = parseArgs(others, [...command.options, 'file']);
  if (rest.length < command.words[0] || rest.length > command.words[1]) {
    throw new UsageError(`usage: kitty ${command.usage}`);
  }
  const path = options.file ?? env.KITTY_FILE ?? 'kitty.txt';
  const book = await loadBook(path);
  const text = command.run({ book, options, words: rest, today: env.KITTY_TODAY ?? today() });
  if (command.changes) {
    await saveBook(path, book);
  }
  return text;
}

function formatHelp() {
  return Object.values(COMMANDS).map(({ usage }) => `kitty ${usage}\n`).join('');
}
