import { FindError } from './errors.js';

/**
 * Reads an order such as date,-cents: fields by which records are sorted, the later ones where the
 * earlier ones are equal; with a minus the greatest is first.
 */
export function parseOrder(text) {
  const keys = [];
  let column = 1;
  for (const item of text.split(',')) {
    const m = /^(-?)([a-z]+)$/.exec(item);
    if (!m) {
      throw new FindError('no field', column);
    }
    keys.push({ field: m[2], sign: m[1] ? -1 : 1 });
    column += item.length + 1;
  }
  return (a, b) => {
    for (const { field, sign } of keys) {
      const order = compareValues(a[field], b[field]);
      if (order !== 0) {
        return sign * order;
      }
    }
    return 0;
  };
}

function compareValues(a = '', b = '') {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
