import { formatRecords, loadHall, saveHall } from '../file/index.js';
import { matchAll, parseMatch, parseOrder } from '../find/index.js';
import { formatBill, formatTotals } from '../report/index.js';
import { FIELDS } from '../book/index.js';
import { parseArgs, UsageError } from './args.js';

const OPTIONS = {
  known: ['order', 'room', 'date', 'start', 'end', 'who', 'cents', 'id'],
  lists: ['where'],
};

const COMMANDS = {
  async list({ file, options }) {
    const hall = await loadHall(file);
    const found = hall.list().filter(matchAll(options.where.map(parseMatch)));
    return formatRecords(options.order ? found.sort(parseOrder(options.order)) : found, FIELDS);
  },

  async totals({ file, options }) {
    const hall = await loadHall(file);
    return formatTotals(hall.list().filter(matchAll(options.where.map(parseMatch))));
  },

  async bill({ file, options }) {
    if (!options.who) {
      throw new UsageError('bill needs --who');
    }
    return formatBill((await loadHall(file)).list(), options.who);
  },

  async add({ file, options }) {
    const hall = await loadHall(file);
    const { where, order, ...fields } = options;
    const booking = hall.add({ id: hall.nextId(), ...fields });
    await saveHall(file, hall);
    return `${booking.id}\n`;
  },

  async cancel({ file, options }) {
    const hall = await loadHall(file);
    if (!hall.cancel(options.id)) {
      throw new UsageError(`there is no booking ${options.id}`);
    }
    await saveHall(file, hall);
    return '';
  },
};

/** Carries out a command line; gives what it prints. */
export async function run(words) {
  const args = parseArgs(words, OPTIONS);
  if (!Object.hasOwn(COMMANDS, args.command)) {
    throw new UsageError(`there is no command ${args.command}`);
  }
  return COMMANDS[args.command](args);
}
