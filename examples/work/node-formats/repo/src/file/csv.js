/** Text that is no CSV, with the line where it stops to be. */
export class CsvError extends Error {
  constructor(message, line) {
    super(`line ${line}: ${message}`);
    this.name = 'CsvError';
    this.line = line;
  }
}

/** The rows of a CSV text, each a list of texts. Empty lines are no rows. */
export function parseRows(text) {
  const rows = [];
  let row = [];
  let cell = '';
  let quoted = false;
  let line = 1;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0] !== '') {
      rows.push(row);
    }
    row = [];
    cell = '';
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '\n') {
      line++;
    }
    if (quoted) {
      if (c !== '"') {
        cell += c;
      } else if (text[i + 1] === '"') {
        cell += '"';
        i++;
      } else {
        quoted = false;
      }
    } else if (c === '"') {
      if (cell !== '') {
        throw new CsvError('a quote within a cell', line);
      }
      quoted = true;
    } else if (c === ',') {
      row.push(cell);
      cell = '';
    } else if (c === '\n') {
      endRow();
    } else if (c !== '\r') {
      cell += c;
    }
  }
  if (quoted) {
    throw new CsvError('a quote is not closed', line);
  }
  endRow();
  return rows;
}

/** The records of a CSV text whose first row has the names of the fields. */
export function parseRecords(text) {
  const [names, ...rows] = parseRows(text);
  if (!names) {
    return [];
  }
  return rows.map((row, i) => {
    if (row.length !== names.length) {
      throw new CsvError(`${row.length} cells, not ${names.length}`, i + 2);
    }
    return Object.fromEntries(names.map((name, n) => [name, row[n]]));
  });
}

/** A CSV text of these fields of the records. */
export function formatRecords(records, names) {
  const rows = [names, ...records.map((r) => names.map((name) => String(r[name] ?? '')))];
  return rows.map((row) => row.map(formatCell).join(',') + '\n').join('');
}

function formatCell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
