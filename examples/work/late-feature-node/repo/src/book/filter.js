import { checkMonth, monthOf } from '../core/dates.js';
import { checkName } from '../entry/names.js';

/**
 * Gives a function that tells if an entry is wanted.
 * A person is one who paid, or for whom it is; an entry for all is for each.
 */
export function createFilter({ month, person } = {}) {
  const tests = [];
  if (month !== undefined) {
    const wanted = checkMonth(month);
    tests.push((entry) => monthOf(entry.date) === wanted);
  }
  if (person !== undefined) {
    const name = checkName(person);
    tests.push(({ payer, people }) => payer === name || people.length === 0 || people.includes(name));
  }
  return (entry) => tests.every((test) => test(entry));
}
