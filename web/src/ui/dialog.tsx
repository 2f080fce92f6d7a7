import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";

export interface Question {
  title: string;
  text: ReactNode;
  confirm: string; // words of the button
  must?: string; // text that confirms, as the name of the object
  ask?: { label: string; hint?: string; many?: boolean; least?: number; first?: string };
  danger?: boolean;
  act: (text: string) => Promise<void> | void;
  leave?: () => void; // it is closed, and nothing was done
}

let open: Question | null = null;
const listeners = new Set<() => void>();

/** askUser opens a dialog. Nothing is done before its button. */
export function askUser(q: Question | null): void {
  open = q;
  for (const fn of [...listeners]) fn();
}

export function Dialogs() {
  const q = useSyncExternalStore(
    (fn) => {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
    () => open,
  );
  return q ? <QuestionDialog key={q.title} q={q} /> : null;
}

function QuestionDialog({ q }: { q: Question }) {
  const ref = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(q.ask?.first ?? "");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const back = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (back instanceof HTMLElement) back.focus();
    };
  }, []);
  const ready = q.must !== undefined ? text.trim() === q.must : text.trim().length >= (q.ask?.least ?? 0);
  const label = q.must !== undefined ? `Type ${q.must} to confirm` : q.ask?.label;
  const leave = () => {
    if (open !== q) return;
    askUser(null);
    q.leave?.();
  };
  const submit = async () => {
    if (!ready || busy) return;
    setBusy(true);
    try {
      await q.act(text.trim());
    } finally {
      askUser(null);
    }
  };
  return (
    <dialog ref={ref} aria-labelledby="dialog-title" onClose={leave} data-testid="dialog">
      <div className="sheet">
        <h2 id="dialog-title">{q.title}</h2>
        <div>{q.text}</div>
        {label ? (
          <label className="field">
            {label}
            {q.ask?.many ? (
              <textarea value={text} onChange={(e) => setText(e.target.value)} autoFocus />
            ) : (
              <input
                value={text}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                onChange={(e) => setText(e.target.value)}
                onKeyDown={(e) => {
                  if (e.key === "Enter") void submit();
                }}
              />
            )}
            {q.ask?.hint ? <span className="hint">{q.ask.hint}</span> : null}
          </label>
        ) : null}
        <div className="row spread">
          <button onClick={leave}>Leave it</button>
          <button className={q.danger ? "danger" : "primary"} disabled={!ready || busy} onClick={() => void submit()} autoFocus={!label} data-testid="dialog-confirm">
            {q.confirm}
          </button>
        </div>
      </div>
    </dialog>
  );
}
