import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the locale files. */
export const LOCALES_DIR = fileURLToPath(new URL('../locales/', import.meta.url));

const LOCALE_FILE = /^([a-z]{2}(?:-[A-Z]{2})?)\.json$/;

/** Lists the locales that have a file in the folder, sorted. */
export function listLocales(dir = LOCALES_DIR) {
  return readdirSync(dir)
    .map((file) => LOCALE_FILE.exec(file)?.[1])
    .filter(Boolean)
    .sort();
}

/** Reads the messages of a locale: an object of texts, and of objects with plural forms. */
export function readLocale(locale, dir = LOCALES_DIR) {
  if (!listLocales(dir).includes(locale)) {
    throw new RangeError(`unknown locale: ${locale}`);
  }
  return JSON.parse(readFileSync(join(dir, `${locale}.json`), 'utf8'));
}
