/**
 * Writes rows as a table; all cells are texts.
 * A column is as wide as its longest cell, and two blanks part columns. Those in `right` stand right.
 */
export function formatTable(titles, rows, right = []) {
  const all = [titles, ...rows];
  const widths = titles.map((_, i) => Math.max(...all.map((row) => row[i].length)));
  const lines = all.map((row) => {
    const cells = row.map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])));
    return `${cells.join('  ').trimEnd()}\n`;
  });
  return lines.join('');
}
