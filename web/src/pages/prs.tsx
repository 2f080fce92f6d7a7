import { askClosePull, syncPulls } from "../lib/actions.ts";
import { shortOID, type State } from "../lib/format.ts";
import { isWebAddress } from "../lib/markdown.ts";
import { pullCommands } from "../lib/pulls.ts";
import { pullPath, reviewPath, taskPath } from "../lib/router.ts";
import { escapeLine, escapeText } from "../lib/text.ts";
import type { PullRequest } from "../types.ts";
import { CopyLine } from "../ui/copyline.tsx";
import { useQuery, useResource } from "../ui/hooks.ts";
import { Markdown } from "../ui/markdown.tsx";
import { A, Badge, Empty, Out, Panel, Read } from "../ui/parts.tsx";
import { Portion } from "../ui/portion.tsx";

const states: Record<string, State> = {
  open: { text: "open", tone: "run" },
  merged: { text: "merged", tone: "good" },
  closed: { text: "closed", tone: "calm" },
};

interface PullPage {
  text: string;
  body?: string; // Markdown
  task?: string; // that opened it
}

const pagePath = (task: string): string => `prs/${encodeURIComponent(task)}/page`;

export function PullsPage() {
  const entry = useResource<PullRequest[]>("prs");
  const [at] = useQuery("pr");
  const lead = useResource<PullPage>(at ? pagePath(at) : null).data?.task; // a follow-up names that of another task
  return (
    <Read entry={entry} path="prs" what="the pull requests" heading="Pull requests">
      {(all) => {
        const chosen = at ? (all.find((p) => p.task === at) ?? all.find((p) => p.task === lead)) : undefined;
        return chosen ? <PullView key={chosen.task} p={chosen} at={at} /> : <PullList all={all} unknown={at} />;
      }}
    </Read>
  );
}

function PullList({ all, unknown }: { all: PullRequest[]; unknown: string }) {
  return (
    <div className="stack">
      <div className="row spread">
        <h1>Pull requests</h1>
        <button onClick={() => void syncPulls()} data-testid="sync">
          Ask the forge
        </button>
      </div>
      {unknown ? <p className="stale">There is no pull request of {escapeLine(unknown)}.</p> : null}
      <Panel title={`${all.filter((p) => p.state === "open").length} open of ${all.length}`} bare id="prs">
        {all.length === 0 ? <Empty>No pull request yet. A task opens one when all of its work is merged and checked.</Empty> : <PullTable all={all} />}
      </Panel>
    </div>
  );
}

function PullTable({ all }: { all: PullRequest[] }) {
  const sorted = [...all].sort((a, b) => (a.state === "open" ? 0 : 1) - (b.state === "open" ? 0 : 1) || b.number - a.number);
  return (
    <Portion items={sorted} most={100} what="pulls">
      {(shown) => (
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
              {shown.map((p) => (
                <tr key={p.task} data-testid={"pr-" + p.number}>
                  <td className="num">
                    <A to={pullPath(p.task)} data-row aria-label={`#${p.number}: ${escapeLine(p.title)}`} data-testid={"show-pr-" + p.number}>
                      #{p.number}
                    </A>
                  </td>
                  <td>
                    <Badge state={states[p.state] ?? { text: p.state, tone: "calm" }} />
                  </td>
                  <td className="mono">
                    <A to={taskPath(p.task)}>{p.task}</A>
                  </td>
                  <td>
                    <A to={pullPath(p.task)}>{escapeLine(p.title)}</A>
                    {p.branch_change ? <div className="ink-warn small">its branch is not as it was delivered</div> : null}
                  </td>
                  <td className="mono small">
                    {escapeLine(p.branch)} → {escapeLine(p.base)}
                  </td>
                  <td className="mono">{shortOID(p.head)}</td>
                  <td>
                    <PullButtons p={p} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Portion>
  );
}

function PullButtons({ p }: { p: PullRequest }) {
  return (
    <span className="row" style={{ flexWrap: "nowrap" }}>
      <A className="button" to={reviewPath(p.task)}>
        Diff
      </A>
      {p.state === "open" ? (
        <button onClick={() => askClosePull(p)} aria-label={`Close #${p.number}`} data-testid={"close-" + p.number}>
          Close
        </button>
      ) : null}
    </span>
  );
}

/** PullView is one pull request: how it is merged, and its text. */
function PullView({ p, at }: { p: PullRequest; at: string }) {
  const path = pagePath(at);
  const entry = useResource<PullPage>(path);
  const commands = pullCommands(p);
  return (
    <div className="stack">
      <div className="row spread">
        <h1 className="row">
          <span className="num muted">#{p.number}</span> {escapeLine(p.title)} <Badge state={states[p.state] ?? { text: p.state, tone: "calm" }} />
        </h1>
        <span className="row">
          <PullButtons p={p} />
          <A className="button" to="/prs">
            All pull requests
          </A>
        </span>
      </div>
      <div className="row small">
        <span>
          <span className="muted">task </span>
          <A to={taskPath(p.task)} className="mono">
            {p.task}
          </A>
        </span>
        <span>
          <span className="muted">branch </span>
          <code>
            {escapeLine(p.branch)} → {escapeLine(p.base)}
          </code>
        </span>
        <span>
          <span className="muted">head </span>
          <code>{shortOID(p.head)}</code>
        </span>
        {p.url && isWebAddress(p.url) ? (
          <span data-testid="on-forge">
            <Out url={p.url}>On the forge</Out>
          </span>
        ) : null}
      </div>
      {p.branch_change ? <p className="stale">Its branch is not as it was delivered.</p> : null}
      {commands.length > 0 ? (
        <Panel title="Merge it" id="pr-commands">
          <div className="stack tight">
            <p className="small muted">A merge is confirmed at a terminal, in the repository.</p>
            {commands.map((c) => (
              <CopyLine key={c.command} what={c.what} text={c.command} />
            ))}
          </div>
        </Panel>
      ) : null}
      <Panel title="Description" id="pr-text">
        <Read
          entry={entry}
          path={path}
          what="the pull request"
          missing={
            <>
              This version gives no text here. On a terminal: <code>company pr show {escapeLine(p.task)}</code>
            </>
          }
        >
          {(page) => (page.body === undefined ? <pre>{escapeText(page.text)}</pre> : <Markdown text={page.body} below={2} />)}
        </Read>
      </Panel>
    </div>
  );
}
