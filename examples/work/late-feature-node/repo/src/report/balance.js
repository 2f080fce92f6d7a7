import { formatAmount, splitCents } from '../core/money.js';

/** Gives what each one is owed (or owes, below zero), by name. */
export function countBalances(entries, everyone) {
  const balances = new Map(everyone.map((name) => [name, 0]));
  for (const { payer, cents, people } of entries) {
    const sharers = people.length === 0 ? everyone : people;
    balances.set(payer, balances.get(payer) + cents);
    splitCents(cents, sharers.length).forEach((part, i) => {
      balances.set(sharers[i], balances.get(sharers[i]) - part);
    });
  }
  return balances;
}

/** Says who pays whom so that all are even: who owes most pays whom most is owed. */
export function formatBalance(entries, everyone) {
  const open = [...countBalances(entries, everyone)].map(([name, cents]) => ({ name, cents }));
  const lines = [];
  for (;;) {
    open.sort((a, b) => b.cents - a.cents || (a.name < b.name ? -1 : 1));
    const [first, last] = [open[0], open.at(-1)];
    if (!first || first.cents === 0) {
      break;
    }
    const cents = Math.min(first.cents, -last.cents);
    first.cents -= cents;
    last.cents += cents;
    lines.push(`${last.name} pays ${first.name} ${formatAmount(cents)}\n`);
  }
  return lines.length === 0 ? 'all are even\n' : lines.join('');
}
