import { UsageError } from '../../core/errors.js';
import { readId } from '../args.js';

export const remove = {
  usage: 'remove ID',
  words: [1, 1],
  options: [],
  changes: true,

  run({ book, words: [id] }) {
    if (!book.remove(readId(id))) {
      throw new UsageError(`there is no entry ${id}`);
    }
    return '';
  },
};
