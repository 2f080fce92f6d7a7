import { readFile, rename, writeFile } from 'node:fs/promises';
import { Book } from '../book/index.js';
import { decodeEntry, encodeEntry } from './lines.js';

/** Reads the book of a file; one that is missing is an empty book. */
export async function loadBook(path) {
  let text = '';
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') {
      throw error;
    }
  }
  const entries = [];
  text.split('\n').forEach((line, i) => {
    if (line !== '') {
      entries.push(decodeEntry(line, i + 1));
    }
  });
  return new Book(entries);
}

/** Writes the book to a file, as a whole or not at all. */
export async function saveBook(path, book) {
  const text = book.list().map((entry) => `${encodeEntry(entry)}\n`).join('');
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
