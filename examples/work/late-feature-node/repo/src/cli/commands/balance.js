import { formatBalance } from '../../report/balance.js';

export const balance = {
  usage: 'balance',
  words: [0, 0],
  options: [],

  run({ book }) {
    return formatBalance(book.list(), book.people());
  },
};
