export { FIELDS, makeBooking, spanOf } from './booking.js';
export { Hall, TakenError } from './hall.js';
