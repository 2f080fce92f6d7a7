import { useState } from "react";
import { applyTheme, readTheme, type Theme } from "../lib/theme.ts";
import { escapeLine } from "../lib/text.ts";
import type { ProjectRecord } from "../types.ts";
import { useQuery, useResource } from "../ui/hooks.ts";
import { Empty, Panel, Read } from "../ui/parts.tsx";

interface Value {
  key: string;
  value: string;
  origin: string;
}

export function SettingsPage() {
  const [project, setProject] = useQuery("project");
  const [text, setText] = useQuery("q");
  const [changed, setChanged] = useState(false);
  const [theme, setTheme] = useState<Theme>(readTheme);
  const path = project ? "config?project=" + encodeURIComponent(project) : "config";
  const entry = useResource<{ office: string; values: Value[] }>(path);
  const projects = useResource<{ projects: ProjectRecord[] }>("projects");
  return (
    <div className="stack">
      <h1>Settings</h1>
      <Panel title="This page">
        <div className="row" role="radiogroup" aria-label="Colours">
          {(["auto", "light", "dark"] as Theme[]).map((t) => (
            <label key={t} className="check">
              <input
                type="radio"
                name="theme"
                checked={theme === t}
                onChange={() => {
                  setTheme(t);
                  applyTheme(t);
                }}
              />
              {t === "auto" ? "as the system" : t}
            </label>
          ))}
          <a href="/licenses.txt" className="small">Licenses of what this page is made of</a>
        </div>
      </Panel>
      <Read
        entry={entry}
        path={path}
        what="the settings"
        missing={
          <>
            This version of the company shows no settings to a page. On a terminal: <code>company config list</code>
          </>
        }
      >
        {(c) => {
          const needle = text.toLowerCase();
          const rows = c.values.filter((v) => (!changed || v.origin !== "default") && (v.key + " " + v.value + " " + v.origin).toLowerCase().includes(needle));
          return (
            <Panel
              id="settings"
              title="Each value, and where it comes from"
              bare
              aside={
                <div className="row">
                  <label className="check">
                    <input type="checkbox" checked={changed} onChange={(e) => setChanged(e.target.checked)} /> not by default
                  </label>
                  {(projects.data?.projects.length ?? 0) > 1 ? (
                    <label>
                      <span className="hidden-text">Project</span>
                      <select value={project} onChange={(e) => setProject(e.target.value)}>
                        <option value="">of the office</option>
                        {projects.data?.projects.map((p) => (
                          <option key={p.id} value={p.name}>
                            {escapeLine(p.name)}
                          </option>
                        ))}
                      </select>
                    </label>
                  ) : null}
                  <label>
                    <span className="hidden-text">Filter the settings</span>
                    <input data-filter type="search" placeholder="Filter  /" value={text} onChange={(e) => setText(e.target.value)} />
                  </label>
                </div>
              }
            >
              {rows.length === 0 ? <Empty>No setting fits.</Empty> : null}
              <div className="scroll-x" tabIndex={0} role="region" aria-label="Settings">
                <table className="stacked">
                  <thead>
                    <tr>
                      <th>Key</th>
                      <th>Value</th>
                      <th>From</th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((v) => (
                      <tr key={v.key}>
                        <td className="mono">{escapeLine(v.key)}</td>
                        <td className="mono wrap">{escapeLine(v.value)}</td>
                        <td className={v.origin === "default" ? "muted" : ""}>{escapeLine(v.origin)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </Panel>
          );
        }}
      </Read>
    </div>
  );
}
