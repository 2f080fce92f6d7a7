export { DAY_NAMES, dayOf, formatDate, formatTime, parseDate, parseTime, weekdayOf } from './clock.js';
export { formatSpan, freeIn, lengthOf, makeSpan, overlap } from './spans.js';
