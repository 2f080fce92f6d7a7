import { askClosePull, syncPulls } from "../lib/actions.ts";
import { shortOID, type State } from "../lib/format.ts";
import { reviewPath, taskPath } from "../lib/router.ts";
import { escapeLine, escapeText } from "../lib/text.ts";
import type { PullRequest } from "../types.ts";
import { useQuery, useResource } from "../ui/hooks.ts";
import { A, Badge, Empty, Out, Panel, Read } from "../ui/parts.tsx";

const states: Record<string, State> = {
  open: { text: "open", tone: "run" },
  merged: { text: "merged", tone: "good" },
  closed: { text: "closed", tone: "calm" },
};

export function PullsPage() {
  const entry = useResource<PullRequest[]>("prs");
  const [at] = useQuery("pr");
  return (
    <div className="stack">
      <div className="row spread">
        <h1>Pull requests</h1>
        <button onClick={() => void syncPulls()} data-testid="sync">
          Ask the forge
        </button>
      </div>
      <Read entry={entry} path="prs" what="the pull requests">
        {(all) => (
          <>
            <Panel title={`${all.filter((p) => p.state === "open").length} open of ${all.length}`} bare id="prs">
              {all.length === 0 ? <Empty>No pull request yet. A task opens one when all of its work is merged and checked.</Empty> : <PullTable all={all} />}
            </Panel>
            {at ? <PullText id={at} /> : null}
          </>
        )}
      </Read>
    </div>
  );
}

function PullTable({ all }: { all: PullRequest[] }) {
  const sorted = [...all].sort((a, b) => (a.state === "open" ? 0 : 1) - (b.state === "open" ? 0 : 1) || b.number - a.number);
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Pull requests">
      <table className="stacked">
        <thead>
          <tr>
            <th>PR</th>
            <th>State</th>
            <th>Task</th>
            <th>What</th>
            <th>Branch</th>
            <th>Head</th>
            <th>
              <span className="hidden-text">Open</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((p) => (
            <tr key={p.task} data-testid={"pr-" + p.number}>
              <td className="num">
                <Out url={p.url}>#{p.number}</Out>
              </td>
              <td>
                <Badge state={states[p.state] ?? { text: p.state, tone: "calm" }} />
              </td>
              <td className="mono">
                <A to={taskPath(p.task)}>{p.task}</A>
              </td>
              <td>
                {escapeLine(p.title)}
                {p.branch_change ? <div className="ink-warn small">its branch is not as it was delivered</div> : null}
              </td>
              <td className="mono small">
                {escapeLine(p.branch)} → {escapeLine(p.base)}
              </td>
              <td className="mono">{shortOID(p.head)}</td>
              <td>
                <span className="row" style={{ flexWrap: "nowrap" }}>
                  <A className="button" to={"/prs?pr=" + p.task} data-row>
                    Text
                  </A>
                  <A className="button" to={reviewPath(p.task)}>
                    Diff
                  </A>
                  {p.state === "open" ? (
                    <button onClick={() => askClosePull(p)} aria-label={`Close #${p.number}`} data-testid={"close-" + p.number}>
                      Close
                    </button>
                  ) : null}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PullText({ id }: { id: string }) {
  const path = `prs/${encodeURIComponent(id)}/page`;
  const entry = useResource<{ text: string }>(path);
  return (
    <Panel title={`Pull request of ${escapeLine(id)}`} id="pr-text">
      <Read
        entry={entry}
        path={path}
        what="the pull request"
        missing={
          <>
            This version gives no text here. On a terminal: <code>company pr show {escapeLine(id)}</code>
          </>
        }
      >
        {(p) => <pre>{escapeText(p.text)}</pre>}
      </Read>
    </Panel>
  );
}
