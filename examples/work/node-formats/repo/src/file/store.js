import { readFile, rename, writeFile } from 'node:fs/promises';
import { FIELDS, Hall } from '../book/index.js';
import { formatRecords, parseRecords } from './csv.js';

/** Reads a hall from the file of its bookings. A file that is not there is an empty hall. */
export async function loadHall(path) {
  let text = '';
  try {
    text = await readFile(path, 'utf8');
  } catch (err) {
    if (err.code !== 'ENOENT') {
      throw err;
    }
  }
  return new Hall(parseRecords(text));
}

/** Writes the bookings of a hall: the file has the old ones or the new ones at any time. */
export async function saveHall(path, hall) {
  const next = `${path}.new`;
  await writeFile(next, formatRecords(hall.list(), FIELDS));
  await rename(next, path);
}
