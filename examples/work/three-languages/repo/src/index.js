export { formatMessage, listPlaceholders } from './format.js';
export { LOCALES_DIR, listLocales, readLocale } from './locales.js';
export { createTranslator, listPluralForms } from './translate.js';
