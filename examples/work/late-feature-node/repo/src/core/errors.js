/** Something that somebody wrote cannot be read. */
export class FormatError extends Error {
  constructor(message, line) {
    super(line ? `line ${line}: ${message}` : message);
    this.name = 'FormatError';
    this.line = line;
  }
}

/** A command line makes no sense. */
export class UsageError extends Error {
  constructor(message) {
    super(message);
    this.name = 'UsageError';
  }
}
