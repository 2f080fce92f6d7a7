import { formatMessage } from './format.js';
import { LOCALES_DIR, readLocale } from './locales.js';

/** The locale that has every message. */
const FALLBACK = 'en';

/** Lists the plural categories of a locale, sorted. */
export function listPluralForms(locale) {
  return [...new Intl.PluralRules(locale).resolvedOptions().pluralCategories].sort();
}

/**
 * Returns a function that gives the message of a key, with values in the place of its placeholders. Numbers
 * are written as the locale writes them.
 */
export function createTranslator(locale, dir = LOCALES_DIR) {
  const own = createCatalog(locale, dir);
  const fallback = locale === FALLBACK ? own : createCatalog(FALLBACK, dir);
  return (key, values = {}) => {
    const catalog = [own, fallback].find((c) => Object.hasOwn(c.messages, key));
    if (!catalog) {
      throw new RangeError(`unknown message: ${key}`);
    }
    const text = chooseForm(catalog, key, values);
    return formatMessage(text, formatNumbers(own, values));
  };
}

function createCatalog(locale, dir) {
  return {
    messages: readLocale(locale, dir),
    plurals: new Intl.PluralRules(locale),
    numbers: new Intl.NumberFormat(locale),
  };
}

/** Returns the text of a key; of several plural forms the one for the count. */
function chooseForm(catalog, key, values) {
  const message = catalog.messages[key];
  if (typeof message === 'string') {
    return message;
  }
  if (typeof values.count !== 'number') {
    throw new RangeError(`no count for ${key}`);
  }
  return message[catalog.plurals.select(values.count)] ?? message.other;
}

function formatNumbers(catalog, values) {
  const format = (value) => (typeof value === 'number' ? catalog.numbers.format(value) : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, format(value)]));
}
