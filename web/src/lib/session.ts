// The token of this tab. It comes from a ticket in the address, used once.

const key = "company.token";

/** takeTicket takes the ticket out of the address, and leaves none there. */
export function takeTicket(): string {
  const m = /^#t=([A-Za-z0-9._~-]+)$/.exec(location.hash);
  if (location.hash.startsWith("#t=")) history.replaceState(history.state, "", location.pathname + location.search);
  return m?.[1] ?? "";
}

export function readToken(): string {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return memory;
  }
}

let memory = ""; // where a browser lets nothing be stored

export function storeToken(token: string): void {
  memory = token;
  try {
    if (token) sessionStorage.setItem(key, token);
    else sessionStorage.removeItem(key);
  } catch {
    // It is kept in memory, until the page is loaded again.
  }
}
