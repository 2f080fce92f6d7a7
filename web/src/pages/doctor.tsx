import { useState } from "react";
import type { Tone } from "../lib/format.ts";
import { askAgain } from "../lib/store.ts";
import { escapeLine } from "../lib/text.ts";
import { useResource } from "../ui/hooks.ts";
import { Badge, Panel, Read } from "../ui/parts.tsx";

interface Finding {
  name: string;
  status: string;
  found: string;
  needed?: string;
  fix?: string;
}

const tones: Record<string, Tone> = { pass: "good", fail: "bad", warn: "warn", unknown: "calm" };

export function DoctorPage() {
  const [online, setOnline] = useState(false);
  const path = online ? "doctor?online=true" : "doctor";
  const entry = useResource<{ ok: boolean; checks: Finding[] }>(path);
  return (
    <div className="stack">
      <h1>Doctor</h1>
      <Read
        entry={entry}
        path={path}
        what="the checks"
        missing={
          <>
            This version of the company checks nothing for a page. On a terminal: <code>company doctor</code>
          </>
        }
      >
        {(d) => (
          <Panel
            id="doctor"
            title={d.ok ? "Nothing is in the way of work" : "Some checks need you"}
            bare
            aside={
              <div className="row">
                <label className="check">
                  <input type="checkbox" checked={online} onChange={(e) => setOnline(e.target.checked)} /> ask servers, too
                </label>
                <button onClick={() => askAgain(path)}>Check again</button>
              </div>
            }
          >
            <div className="scroll-x" tabIndex={0} role="region" aria-label="Checks">
              <table className="stacked">
                <thead>
                  <tr>
                    <th>Check</th>
                    <th>Result</th>
                    <th>Found</th>
                    <th>Needed, and how to have it</th>
                  </tr>
                </thead>
                <tbody>
                  {[...d.checks].sort((a, b) => order(a) - order(b)).map((c) => (
                    <tr key={c.name}>
                      <td>{escapeLine(c.name)}</td>
                      <td>
                        <Badge state={{ text: c.status, tone: tones[c.status] ?? "calm" }} />
                      </td>
                      <td className="wrap">{escapeLine(c.found)}</td>
                      <td className="wrap">
                        {c.status === "pass" ? "" : escapeLine(c.needed ?? "")}
                        {c.fix && c.status !== "pass" ? (
                          <div>
                            <code>{escapeLine(c.fix)}</code>
                          </div>
                        ) : null}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Panel>
        )}
      </Read>
    </div>
  );
}

const order = (c: Finding): number => ["fail", "unknown", "warn", "pass"].indexOf(c.status);
