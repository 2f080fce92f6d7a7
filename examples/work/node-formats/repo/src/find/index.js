export { FindError } from './errors.js';
export { matchAll, parseMatch } from './match.js';
export { parseOrder } from './order.js';
