// Where the focus goes when another page is shown.

const patience = 5000; // ms in which a page has its heading

/** focusHeading moves the focus to the heading of the page, so that a reader hears where they are. The heading may come later, or be replaced with the data; a reader who goes on meanwhile is left alone. It gives what ends it. */
export function focusHeading(): () => void {
  const main = document.getElementById("main");
  const came = document.activeElement;
  if (came && came !== main && main?.contains(came)) return () => {}; // a field of the page that is typed into first
  let mine: Element | null = null;
  const look = (): void => {
    const now = document.activeElement;
    if (now !== null && now !== document.body && now !== (mine ?? came)) {
      stop();
      return;
    }
    const heading = main?.querySelector("h1");
    if (!heading || heading === now) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    mine = heading;
  };
  const watch = new MutationObserver(look);
  const timer = setTimeout(() => stop(), patience);
  const stop = (): void => {
    watch.disconnect();
    clearTimeout(timer);
  };
  if (main) watch.observe(main, { subtree: true, childList: true });
  look();
  return stop;
}
