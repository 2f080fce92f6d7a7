export { loadBook, saveBook } from './file.js';
export { decodeEntry, encodeEntry } from './lines.js';
