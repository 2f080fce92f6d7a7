// Keys of the page. Letters do nothing while a text is typed or a dialog is open.

import { goTo } from "./router.ts";

export const jumps: Record<string, { to: string; name: string }> = {
  o: { to: "/", name: "overview" },
  i: { to: "/inbox", name: "inbox" },
  n: { to: "/submit", name: "new task" },
  p: { to: "/prs", name: "pull requests" },
  c: { to: "/costs", name: "costs" },
  d: { to: "/doctor", name: "doctor" },
  s: { to: "/settings", name: "settings" },
};

const isAsking = (): boolean => document.querySelector("dialog[open]") !== null;

const isTyping = (e: KeyboardEvent): boolean => {
  const t = e.target;
  return t instanceof HTMLElement && (t.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(t.tagName));
};

/** rows are what j and k go over: the elements of the page marked with data-row. */
const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((e) => e.offsetParent !== null);

function moveRow(by: number): void {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((e) => e === document.activeElement || e.contains(document.activeElement));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** listenToKeys starts it; showHelp opens the list of keys, showPalette the palette, escape closes what is open. */
export function listenToKeys(showHelp: () => void, showPalette: () => void, escape: () => void): () => void {
  let jump = 0; // when g was pressed
  const onKey = (e: KeyboardEvent) => {
    if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k" && !isAsking()) {
      e.preventDefault();
      showPalette();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    if (e.key === "Escape" && !isAsking()) {
      if (isTyping(e) && e.target instanceof HTMLElement) e.target.blur();
      else escape();
      return;
    }
    if (isTyping(e) || isAsking()) return;
    if (jump && performance.now() - jump < 1500) {
      jump = 0;
      const to = jumps[e.key];
      if (to) {
        e.preventDefault();
        goTo(to.to);
        return;
      }
    }
    switch (e.key) {
      case "g":
        jump = performance.now();
        return;
      case "?":
        showHelp();
        break;
      case "j":
        moveRow(1);
        break;
      case "k":
        moveRow(-1);
        break;
      case "/": {
        const filter = document.querySelector<HTMLInputElement>("main [data-filter]");
        if (!filter) return;
        filter.focus();
        filter.select();
        break;
      }
      default:
        return;
    }
    e.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
