/** What a user wrote to find bookings, and cannot be read. */
export class FindError extends Error {
  constructor(message, column) {
    super(`${message} (column ${column})`);
    this.name = 'FindError';
    this.column = column;
  }
}
