import { useState } from "react";
import { asProblem, newKey, post, type Problem } from "../lib/api.ts";
import { encodeBase64 } from "../lib/attach.ts";
import { draftOf } from "../lib/drafts.ts";
import { goTo, taskPath } from "../lib/router.ts";
import { invalidate } from "../lib/store.ts";
import { escapeLine } from "../lib/text.ts";
import type { CommandResult, ProjectRecord } from "../types.ts";
import { DropArea, FileField, useAttached } from "../ui/files.tsx";
import { useDraft, useQuery, useResource } from "../ui/hooks.ts";
import { tell } from "../ui/notices.tsx";
import { Empty, Panel, ProblemBox } from "../ui/parts.tsx";

/** splitList reads words that commas separate. */
function splitList(text: string): string[] {
  return text.split(",").map((t) => t.trim()).filter((t) => t !== "");
}

const longest = 256 * 1024; // bytes of an instruction

export function SubmitPage() {
  const projects = useResource<{ projects: ProjectRecord[] }>("projects");
  const [follows] = useQuery("follows");
  const [named] = useQuery("after");
  const [after, setAfter] = useState(named);
  const [text, setText] = useDraft(draftOf.instruction(follows));
  const [project, setProject] = useState("");
  const [base, setBase] = useState("");
  const [priority, setPriority] = useState("");
  const [usd, setUSD] = useState("");
  const [tokens, setTokens] = useState("");
  const [tags, setTags] = useState("");
  const [deadline, setDeadline] = useState("");
  const [approve, setApprove] = useState<string[]>([]);
  const attached = useAttached();
  const [dry, setDry] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [key, setKey] = useState(newKey);
  const bytes = new TextEncoder().encode(text).length;
  const wrong = usd.trim() !== "" && !(Number(usd) > 0);
  const submit = async () => {
    setBusy(true);
    setProblem(null);
    const body: Record<string, unknown> = { instruction: text };
    const add = (name: string, value: unknown, there: boolean) => {
      if (there) body[name] = value;
    };
    add("project", project, project !== "");
    add("base", base.trim(), base.trim() !== "");
    add("follows", follows, follows !== "");
    add("priority", priority, priority !== "");
    add("budget_usd", Number(usd), usd.trim() !== "");
    add("budget_tokens", tokens.trim(), tokens.trim() !== "");
    add("deadline", deadline.trim(), deadline.trim() !== "");
    const all = splitList(tags);
    add("tags", all, all.length > 0);
    const earlier = splitList(after);
    add("after", earlier, follows === "" && earlier.length > 0);
    add("approve", approve, approve.length > 0);
    add("dry_run", true, dry);
    const files = attached.chosen.map((c) => ({ name: c.name, content: encodeBase64(c.content) }));
    add("attachments", files, files.length > 0);
    try {
      const done = await post<CommandResult>("submissions", body, key);
      invalidate(undefined);
      setKey(newKey());
      setText("");
      tell(done.task ? `${done.task} ${body.after ? "begins when " + after + " is merged" : "is under way"}` : "submitted");
      goTo(done.task ? taskPath(done.task) : "/");
    } catch (err) {
      const p = asProblem(err);
      setProblem(p);
      if (!p.isLoss) setKey(newKey()); // a lost answer is asked for again under its key
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="stack">
      <h1>{follows ? `Follow up on ${follows}` : "New task"}</h1>
      <Panel title="Instruction">
        <DropArea attached={attached}>
          <form
            className="stack"
            onSubmit={(e) => {
              e.preventDefault();
              void submit();
            }}
          >
            <label className="field">
              What shall be done?
              <textarea
                data-testid="instruction"
                autoFocus
                rows={8}
                value={text}
                onChange={(e) => setText(e.target.value)}
                onKeyDown={(e) => {
                  if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && text.trim() !== "") void submit();
                }}
                placeholder="Add CSV export to the report page, with tests."
              />
              <span className="hint">
                {bytes > longest * 0.9 ? `${bytes.toLocaleString("en-US")} of ${longest.toLocaleString("en-US")} bytes. ` : ""}Say what is to be true afterwards; the manager plans how. Ctrl+Enter submits.
              </span>
            </label>
            <FileField attached={attached} />
            <div className="halves">
              <label className="field">
                Project
                <select value={project} onChange={(e) => setProject(e.target.value)} disabled={follows !== ""}>
                  <option value="">that of the office</option>
                  {(projects.data?.projects ?? []).map((p) => (
                    <option key={p.id} value={p.name}>
                      {escapeLine(`${p.name} (${p.work_dir})`)}
                    </option>
                  ))}
                </select>
              </label>
              <label className="field">
                Base branch
                <input value={base} onChange={(e) => setBase(e.target.value)} placeholder="the checkout's branch" disabled={follows !== ""} />
              </label>
              <label className="field">
                At most, in USD
                <input value={usd} inputMode="decimal" onChange={(e) => setUSD(e.target.value)} placeholder="by the config" aria-invalid={wrong} />
              </label>
              <label className="field">
                At most, in tokens
                <input value={tokens} onChange={(e) => setTokens(e.target.value)} placeholder="by the config; 200k or 5M" />
              </label>
              <label className="field">
                Priority
                <select value={priority} onChange={(e) => setPriority(e.target.value)}>
                  <option value="">medium</option>
                  <option value="low">low</option>
                  <option value="high">high</option>
                </select>
              </label>
              <label className="field">
                Due
                <input value={deadline} onChange={(e) => setDeadline(e.target.value)} placeholder="2026-12-01, or 36h from now" />
              </label>
              <label className="field">
                Tags
                <input value={tags} onChange={(e) => setTags(e.target.value)} placeholder="separated by commas" />
              </label>
              <label className="field">
                Begins when merged
                <input value={after} onChange={(e) => setAfter(e.target.value)} placeholder="at once; or tasks, as t3, t4" disabled={follows !== ""} data-testid="after" />
              </label>
              <fieldset className="row" style={{ border: 0, margin: 0, padding: 0 }}>
                <legend className="small" style={{ fontWeight: 550, padding: 0, marginBottom: 4 }}>
                  Ask me before
                </legend>
                {["plan", "merge", "pr"].map((a) => (
                  <label key={a} className="check">
                    <input type="checkbox" checked={approve.includes(a)} onChange={(e) => setApprove(e.target.checked ? [...approve, a] : approve.filter((x) => x !== a))} />
                    {{ plan: "the plan is worked on", merge: "each merge", pr: "the pull request" }[a]}
                  </label>
                ))}
              </fieldset>
              <label className="check">
                <input type="checkbox" checked={dry} onChange={(e) => setDry(e.target.checked)} /> end with the plan, work on nothing
              </label>
            </div>
            {problem ? (
              problem.isMissing ? (
                <Empty>
                  This version of the company takes no submissions from a page. On a terminal: <code>company submit "…"</code>
                </Empty>
              ) : (
                <ProblemBox problem={problem} />
              )
            ) : null}
            <div className="row">
              <button type="submit" className="primary" data-testid="submit" disabled={busy || text.trim() === "" || bytes > longest || wrong}>
                {busy ? "Submitting …" : dry ? "Plan it" : "Submit"}
              </button>
            </div>
          </form>
        </DropArea>
      </Panel>
    </div>
  );
}
