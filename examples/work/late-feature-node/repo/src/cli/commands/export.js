import { createFilter } from '../../book/index.js';
import { formatCsv } from '../../report/csv.js';

export const exportCsv = {
  usage: 'export [--month MONTH] [--person NAME]',
  words: [0, 0],
  options: ['month', 'person'],

  run({ book, options }) {
    return formatCsv(book.list(createFilter(options)));
  },
};
