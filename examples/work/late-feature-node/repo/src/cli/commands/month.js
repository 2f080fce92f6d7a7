import { createFilter } from '../../book/index.js';
import { formatMonth } from '../../report/month.js';

export const month = {
  usage: 'month MONTH',
  words: [1, 1],
  options: [],

  run({ book, words }) {
    return formatMonth(book.list(createFilter({ month: words[0] })));
  },
};
