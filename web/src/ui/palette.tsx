import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { findItems, listItems, type PaletteItem } from "../lib/palette.ts";
import { goTo } from "../lib/router.ts";
import type { Overview, TaskList } from "../types.ts";
import { useResource } from "./hooks.ts";

/** Palette goes to anything by name. */
export function Palette({ o, close }: { o: Overview | undefined; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const tasks = useResource<TaskList>("tasks?limit=200").data?.tasks ?? o?.tasks ?? [];
  const items = useMemo(() => listItems(o, tasks), [o, tasks]);
  const found = findItems(items, text);
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => {
    const back = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (back instanceof HTMLElement && back.isConnected) back.focus();
    };
  }, []);
  const open = (it: PaletteItem | undefined) => {
    if (!it) return;
    close();
    goTo(it.to);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(chosen + 1, found.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else if (e.key === "Enter") open(found[chosen]);
    else return;
    e.preventDefault();
  };
  return (
    <dialog ref={dialog} className="palette" onClose={close} aria-label="Go to" data-testid="palette">
      <input
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="palette-items"
        aria-activedescendant={found.length > 0 ? "palette-" + chosen : undefined}
        aria-label="Go to a page, a task, a question or an id"
        placeholder="Go to a page, a task, a question or an id"
        autoFocus
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(e) => {
          setText(e.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-items" role="listbox" aria-label="Places">
        {found.map((it, i) => (
          <li key={it.to + it.name} id={"palette-" + i} role="option" aria-selected={i === chosen} onPointerMove={() => setAt(i)} onClick={() => open(it)}>
            <span>{it.name}</span> <span className="muted small cut">{it.note}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="empty short">Nothing has this name.</p> : null}
    </dialog>
  );
}
