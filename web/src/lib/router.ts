// Routes of the page, and the way between them. The address holds all that is chosen.

export type Route =
  | { page: "overview" | "submit" | "inbox" | "prs" | "costs" | "doctor" | "settings"; id: "" }
  | { page: "task" | "run" | "review"; id: string }
  | { page: "unknown"; id: string };

const pages = ["submit", "inbox", "prs", "costs", "doctor", "settings"] as const;
const shapes = {
  task: /^t[0-9]{1,9}$/,
  run: /^t[0-9]{1,9}-[a-z0-9.-]{1,60}$/,
  review: /^t[0-9]{1,9}(-[a-z0-9.-]{1,60})?$/,
};

/** parseRoute reads the path of an address. */
export function parseRoute(path: string): Route {
  const unknown: Route = { page: "unknown", id: path };
  if (path.includes("//")) return unknown; // a browser reads //t/t1 as the host t
  const parts = path.split("/").filter((p) => p !== "");
  if (parts.length === 0 || (parts.length === 1 && parts[0] === "index.html")) return { page: "overview", id: "" };
  const page = pages.find((p) => p === parts[0]);
  if (page && parts.length === 1) return { page, id: "" };
  if (parts.length !== 2) return unknown;
  const id = parts[1] ?? "";
  const kind = ({ t: "task", tasks: "task", r: "run", runs: "run", review: "review" } as const)[parts[0] as "t"];
  return kind && shapes[kind].test(id) ? { page: kind, id } : unknown;
}

export const taskPath = (id: string): string => "/t/" + id;
export const runPath = (id: string): string => "/r/" + id;
export const reviewPath = (id: string): string => "/review/" + id;
export const pullPath = (task: string): string => "/prs?pr=" + task;
export const subtaskPath = (task: string, id: string): string => `/t/${task}?s=${id}`;

/** setQuery is an address with fields changed; an empty value takes the field away. */
export function setQuery(search: string, change: Record<string, string>): string {
  const q = new URLSearchParams(search);
  for (const [k, v] of Object.entries(change)) {
    if (v === "") q.delete(k);
    else q.set(k, v);
  }
  const text = q.toString();
  return text === "" ? "" : "?" + text;
}

const listeners = new Set<() => void>();

export function watchAddress(fn: () => void): () => void {
  listeners.add(fn);
  addEventListener("popstate", fn);
  return () => {
    listeners.delete(fn);
    removeEventListener("popstate", fn);
  };
}

/** goTo shows an address of the page. */
export function goTo(to: string, replace = false): void {
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", location.origin + to); // else //t would be another host
  for (const fn of [...listeners]) fn();
}

export const readAddress = (): string => location.pathname + location.search;
