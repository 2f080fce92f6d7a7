// Presses of buttons that have only just come to their place. Late data, a lost connection and
// the answer of another tab move buttons, or put another one under the pointer: a press that was
// aimed at the one before does nothing.

/** settleTime is how long a button lies still before the pointer can press it, in ms. */
export const settleTime = 350;

export interface Place {
  x: number; // in the window
  y: number;
  pageX: number; // in the page
  pageY: number;
  name: string; // what the button does
}

export interface Kept extends Place {
  since: number; // when it came there, or became this button
}

const near = (a: number, b: number): boolean => Math.abs(a - b) < 3;

/** keepPlace is what is known of a button after a look at it. A scroll moves it in the window alone, and is the reader's own. */
export function keepPlace(before: Kept | undefined, now: Place, at: number): Kept {
  const still = before !== undefined && before.name === now.name && ((near(before.x, now.x) && near(before.y, now.y)) || (near(before.pageX, now.pageX) && near(before.pageY, now.pageY)));
  if (!still) return { ...now, since: at };
  // What creeps is compared with the place where it began, unless the reader scrolls.
  return near(before.x, now.x) && near(before.y, now.y) ? before : { ...now, since: before.since };
}

/** isSettled reports whether a button may be pressed at a moment. */
export const isSettled = (kept: Kept, at: number): boolean => at - kept.since >= settleTime;

// Buttons without a frame unfold, sort and close: none of them has an effect on the office.
const guarded = "button:not(.plain):not(.no)";

/** guardPresses keeps presses from buttons that have not settled, and calls refuse for each. Keys and programs press at once. */
export function guardPresses(refuse: () => void): void {
  const places = new WeakMap<Element, Kept>();
  let looking = false;
  const look = (): void => {
    looking = false;
    const at = performance.now();
    for (const b of document.querySelectorAll(guarded)) {
      const box = b.getBoundingClientRect();
      const now = { x: box.left, y: box.top, pageX: box.left + scrollX, pageY: box.top + scrollY, name: (b.textContent ?? "") + "\n" + (b.getAttribute("data-testid") ?? "") };
      places.set(b, keepPlace(places.get(b), now, at));
    }
  };
  const lookSoon = (): void => {
    if (looking) return;
    looking = true;
    requestAnimationFrame(look);
  };
  new MutationObserver(lookSoon).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "style", "hidden", "open", "aria-expanded"] });
  addEventListener("resize", lookSoon);
  addEventListener("scroll", lookSoon, { passive: true, capture: true });
  addEventListener(
    "click",
    (e) => {
      const b = e.target instanceof Element ? e.target.closest(guarded) : null;
      if (!b || !e.isTrusted || e.detail === 0) return;
      look();
      const kept = places.get(b);
      if (!kept || isSettled(kept, performance.now())) return;
      e.preventDefault();
      e.stopImmediatePropagation();
      refuse();
    },
    { capture: true },
  );
}
