// Light or dark: by the system, or as it was switched.

export type Theme = "auto" | "light" | "dark";

const key = "company.theme";

export function readTheme(): Theme {
  try {
    const t = localStorage.getItem(key);
    return t === "light" || t === "dark" ? t : "auto";
  } catch {
    return "auto";
  }
}

export function applyTheme(t: Theme): void {
  if (t === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = t;
  try {
    if (t === "auto") localStorage.removeItem(key);
    else localStorage.setItem(key, t);
  } catch {
    // It holds until the page is loaded again.
  }
}
