import { useSyncExternalStore } from "react";
import { asProblem } from "../lib/api.ts";
import { escapeLine } from "../lib/text.ts";

interface Notice {
  id: number;
  text: string;
  bad: boolean;
}

let notices: Notice[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(all: Notice[]): void {
  notices = all;
  for (const fn of [...listeners]) fn();
}

/** tell shows what became of something, for a while; an error stays until it is closed. */
export function tell(text: string, bad = false): void {
  const id = next++;
  set([...notices.slice(-3), { id, text, bad }]);
  if (!bad) setTimeout(() => close(id), 6000);
}

export function tellProblem(err: unknown): void {
  const p = asProblem(err);
  tell([p.message, p.detail, p.hint].filter((s) => s).join("; "), true);
}

function close(id: number): void {
  set(notices.filter((n) => n.id !== id));
}

/** closeNotices closes all, and says whether there were any. */
export function closeNotices(): boolean {
  const any = notices.length > 0;
  if (any) set([]);
  return any;
}

export function Notices() {
  const all = useSyncExternalStore(
    (fn) => {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
    () => notices,
  );
  return (
    <div className="notices" role="status" aria-live="polite" data-testid="notices">
      {all.map((n) => (
        <div key={n.id} className="notice">
          <span className={n.bad ? "ink-bad" : "ink-good"} aria-hidden="true">
            {n.bad ? "✗" : "✓"}
          </span>
          <span className="wrap">{escapeLine(n.text)}</span>
          <button className="plain" aria-label="close" onClick={() => close(n.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
