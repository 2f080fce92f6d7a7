/** An amount of cents as people read it: 1,234.50. */
export function formatCents(cents) {
  const whole = String(Math.floor(Math.abs(cents) / 100));
  const part = String(Math.abs(cents) % 100).padStart(2, '0');
  return (cents < 0 ? '-' : '') + whole.replace(/\B(?=(\d{3})+$)/g, ',') + '.' + part;
}
