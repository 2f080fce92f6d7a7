import { formatTime, parseTime } from './clock.js';

/** The span from one time of day to a later one. */
export function makeSpan(start, end) {
  const span = { from: parseTime(start), to: parseTime(end) };
  if (span.from >= span.to) {
    throw new RangeError(`a span ends after it starts: ${start} to ${end}`);
  }
  return span;
}

/** Whether two spans have a minute in common. Spans that only touch have none. */
export function overlap(a, b) {
  return a.from < b.to && b.from < a.to;
}

/** The minutes of a span. */
export function lengthOf(span) {
  return span.to - span.from;
}

/** What is left of a span when others are taken, in order. */
export function freeIn(span, taken) {
  const free = [];
  let from = span.from;
  for (const t of [...taken].sort((a, b) => a.from - b.from)) {
    if (t.from > from) {
      free.push({ from, to: Math.min(t.from, span.to) });
    }
    from = Math.max(from, t.to);
    if (from >= span.to) {
      break;
    }
  }
  if (from < span.to) {
    free.push({ from, to: span.to });
  }
  return free;
}

/** A span as people read it. */
export function formatSpan(span) {
  return `${formatTime(span.from)}-${formatTime(span.to)}`;
}
