const PLACEHOLDER = /\{(\w+)\}/g;

/** Replaces each {name} of the text by the value of that name. A value that is missing is a RangeError. */
export function formatMessage(text, values = {}) {
  return text.replace(PLACEHOLDER, (_, name) => {
    if (!Object.hasOwn(values, name)) {
      throw new RangeError(`no value for {${name}} in: ${text}`);
    }
    return String(values[name]);
  });
}

/** Lists the names of the placeholders of a text, each once and sorted. */
export function listPlaceholders(text) {
  const names = [...text.matchAll(PLACEHOLDER)].map((match) => match[1]);
  return [...new Set(names)].sort();
}
