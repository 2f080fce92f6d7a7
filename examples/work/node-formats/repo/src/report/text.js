/** The characters of a text; one that takes two code units is one. */
export function widthOf(text) {
  return [...text].length;
}

/** The text with blanks up to a width: behind it, or before it where it stands at the right. */
export function pad(text, width, align = 'left') {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? blanks + text : text + blanks;
}

/** A report of these lines. */
export function joinLines(lines) {
  return lines.map((line) => line.trimEnd() + '\n').join('');
}
