// What keeps the page calm: few renders, and no storm of requests.

export interface Clock {
  now(): number;
  later(ms: number, fn: () => void): () => void; // gives what takes it back
}

export const wallClock: Clock = {
  now: () => performance.now(),
  later: (ms, fn) => {
    const id = setTimeout(fn, ms);
    return () => clearTimeout(id);
  },
};

/**
 * Batch calls flush for what was added. After a rest it does so at once; what follows waits
 * for the gaps, one after the other, and of each second no more than one flush more than
 * there are gaps. So what comes by itself is seen at once, and a flood costs little.
 */
export class Batch<T> {
  private readonly waiting = new Set<T>();
  private times: number[] = []; // of the flushes of the last second
  private planned = false;
  private readonly gaps: number[];
  private readonly flush: (all: T[]) => void;
  private readonly clock: Clock;

  constructor(gaps: number[], flush: (all: T[]) => void, clock: Clock = wallClock) {
    this.gaps = gaps;
    this.flush = flush;
    this.clock = clock;
  }

  add(one: T): void {
    this.waiting.add(one);
    if (this.planned) return;
    this.planned = true;
    this.plan();
  }

  private plan(): void {
    this.clock.later(Math.max(0, this.next() - this.clock.now()), () => this.run());
  }

  /** next is when the next flush may be. */
  private next(): number {
    const now = this.clock.now();
    this.times = this.times.filter((t) => t > now - 1000);
    const n = this.times.length;
    if (n === 0) return now;
    return n > this.gaps.length ? (this.times[n - 1 - this.gaps.length] ?? now) + 1000 : (this.times[n - 1] ?? now) + (this.gaps[n - 1] ?? 0);
  }

  /** count counts a flush that was made elsewhere. */
  count(): void {
    this.times.push(this.clock.now());
  }

  private run(): void {
    if (this.next() > this.clock.now() + 1) {
      this.plan(); // another flush came in between
      return;
    }
    this.planned = false;
    this.times.push(this.clock.now());
    const all = [...this.waiting];
    this.waiting.clear();
    this.flush(all);
  }
}

/**
 * Refresher asks for one thing again and again: never twice at the same time, never sooner
 * than `every` after the answer before, and once more where it was wanted in between. An
 * answer that takes long makes it wait longer, so that a slow office gets fewer requests.
 */
export class Refresher {
  private running = false;
  private wanted = false;
  private next = -Infinity;
  private cancel: (() => void) | null = null;
  private stopped = false;
  private readonly every: number;
  private readonly ask: () => Promise<void>;
  private readonly clock: Clock;

  constructor(every: number, ask: () => Promise<void>, clock: Clock = wallClock) {
    this.every = every;
    this.ask = ask;
    this.clock = clock;
  }

  /** want has it asked for, at once or as soon as may be; after: not before that many ms. */
  want(after = 0): void {
    if (this.stopped) return;
    if (this.running) {
      this.wanted = true;
      return;
    }
    const at = Math.max(this.next, this.clock.now() + after);
    if (this.cancel && at >= this.planned) return;
    this.cancel?.();
    this.planned = at;
    this.cancel = this.clock.later(Math.max(0, at - this.clock.now()), () => void this.run());
  }

  private planned = Infinity;

  stop(): void {
    this.stopped = true;
    this.cancel?.();
    this.cancel = null;
  }

  private async run(): Promise<void> {
    this.cancel = null;
    this.planned = Infinity;
    this.running = true;
    this.wanted = false;
    const began = this.clock.now();
    try {
      await this.ask();
    } finally {
      const took = this.clock.now() - began;
      this.running = false;
      this.next = this.clock.now() + Math.max(this.every, 3 * took) - Math.min(took, this.every);
      if (this.wanted) this.want();
    }
  }
}
