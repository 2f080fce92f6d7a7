import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { asProblem, counts, exchangeTicket } from "./lib/api.ts";
import { startFeed } from "./lib/live.ts";
import { readToken, storeToken, takeTicket } from "./lib/session.ts";
import { guardPresses } from "./lib/steady.ts";
import { applyTheme, readTheme } from "./lib/theme.ts";
import { tell } from "./ui/notices.tsx";
import "./styles.css";

applyTheme(readTheme());

/** open exchanges the ticket of the address. It gives why the page may not be shown; empty: it may. */
async function open(): Promise<string> {
  const ticket = takeTicket();
  if (!ticket) return "";
  try {
    storeToken(await exchangeTicket(ticket));
    return "";
  } catch (err) {
    const p = asProblem(err);
    if (p.isMissing || readToken()) return ""; // an office that asks for no token; or the tab has one
    return p.isLoss ? `${p.message}. The link is still good: load this page again.` : `${p.message}.`;
  }
}

Object.defineProperty(globalThis, "companyCounts", { value: counts }); // for tests of storms

// A fresh link that is opened in the same tab changes the fragment alone.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#t=")) location.reload();
});

void open().then((denied) => {
  const root = document.getElementById("root");
  if (!root) return;
  if (!denied) startFeed();
  guardPresses(() => tell("Nothing was pressed: that button had just moved. Look again, then press it.", true));
  createRoot(root).render(<App denied={denied} />);
});
