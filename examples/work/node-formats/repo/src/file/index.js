export { CsvError, formatRecords, parseRecords, parseRows } from './csv.js';
export { loadHall, saveHall } from './store.js';
