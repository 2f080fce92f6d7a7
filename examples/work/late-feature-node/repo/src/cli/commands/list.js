import { createFilter } from '../../book/index.js';
import { formatEntries } from '../../report/entries.js';

export const list = {
  usage: 'list [--month MONTH] [--person NAME]',
  words: [0, 0],
  options: ['month', 'person'],

  run({ book, options }) {
    return formatEntries(book.list(createFilter(options)));
  },
};
