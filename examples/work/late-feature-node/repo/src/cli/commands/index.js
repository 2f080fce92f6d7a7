import { add } from './add.js';
import { balance } from './balance.js';
import { exportCsv } from './export.js';
import { list } from './list.js';
import { month } from './month.js';
import { remove } from './remove.js';

/**
 * The commands by name. Each has a usage, the least and the largest number of its words, its options,
 * changes (whether the book is to be saved), and run, which gives what is printed.
 */
export const COMMANDS = { add, list, remove, month, balance, export: exportCsv };
