import { UsageError } from '../../core/errors.js';
import { parseEntryText } from '../../entry/parse.js';

export const add = {
  usage: 'add --by NAME TEXT',
  words: [1, Infinity],
  options: ['by'],
  changes: true,

  run({ book, options, words, today }) {
    if (options.by === undefined) {
      throw new UsageError('add needs --by');
    }
    const entry = book.add({ ...parseEntryText(words.join(' '), today), payer: options.by });
    return `${entry.id}\n`;
  },
};
