export { Book } from './book.js';
export { createFilter } from './filter.js';
