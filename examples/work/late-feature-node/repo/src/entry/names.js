import { FormatError } from '../core/errors.js';

const NAME = /^[a-z][a-z0-9]*$/;

/** Gives the name of a person in lower case, or throws. */
export function checkName(text) {
  const name = text.toLowerCase();
  if (!NAME.test(name)) {
    throw new FormatError(`no name: ${text}`);
  }
  return name;
}

/** Reads names parted by commas; each counts once, in the order in which they stand there. */
export function parseNames(text) {
  return [...new Set(text.split(',').map((name) => checkName(name.trim())))];
}
