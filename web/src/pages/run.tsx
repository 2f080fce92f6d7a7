import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, useState } from "react";
import { askTell } from "../lib/actions.ts";
import { asProblem, type Problem } from "../lib/api.ts";
import { diffOfEdit } from "../lib/diff.ts";
import { doingText, formatCost, formatCount, formatTime, formatTook, heldSince, runState, shortOID, whoText } from "../lib/format.ts";
import { readStream } from "../lib/live.ts";
import { EntryList } from "../lib/entries.ts";
import { addOutput } from "../lib/outputs.ts";
import { reviewPath, taskPath } from "../lib/router.ts";
import { cutText, escapeLine, escapeText } from "../lib/text.ts";
import { showSoon, type Shown as Drawn } from "../lib/paint.ts";
import type { LiveOutput, Run, Shown, TranscriptEntry } from "../types.ts";
import { Folded } from "../ui/checks.tsx";
import { PlainDiff } from "../ui/diffview.tsx";
import { useQuery, useResource } from "../ui/hooks.ts";
import { A, Age, Badge, Block, Empty, Panel, ProblemBox, Read, Skeleton, When } from "../ui/parts.tsx";

export function RunPage({ id }: { id: string }) {
  const path = "runs/" + id;
  const entry = useResource<Shown>(path);
  return (
    <Read entry={entry} path={path} what={id} heading={id}>
      {(shown) => (shown.run ? <RunView r={shown.run} /> : <Empty>{id} is not a run.</Empty>)}
    </Read>
  );
}

function RunView({ r }: { r: Run }) {
  const working = r.role === "worker" && r.claimed !== null && r.ended === null;
  return (
    <div className="stack">
      <section className="panel" data-testid="run-head">
        <div className="body stack">
          <div className="row spread">
            <h1>
              <span className="mono">{r.id}</span> <span className="muted">{escapeLine(whoText(r))}</span>
            </h1>
            <div className="row">
              <A className="button" to={taskPath(r.task) + (r.subtask ? "?s=" + r.subtask : "")}>
                {r.subtask || r.task}
              </A>
              {r.head || r.ended === null ? (
                <A className="button" to={reviewPath(r.id)}>
                  Its diff
                </A>
              ) : null}
              {working && r.subtask ? (
                <button onClick={() => askTell(r.subtask ?? "", r.task)} data-testid="tell">
                  Tell the worker
                </button>
              ) : null}
            </div>
          </div>
          <div className="row small">
            <Badge state={runState(r)} />
            <span className="num">{heldSince(r) ? <Age since={heldSince(r) ?? 0} /> : formatTook(r.duration_ms)}</span>
            <span className="num">{formatCount(r.turns, "turn")}</span>
            <span className="num">{formatCost(r.cost_micro_usd, r.tokens)}</span>
            {r.cache ? <span className="num muted">{r.cache.percent} % of the input cached</span> : null}
            {r.briefing?.model?.model ? <span className="muted">model {escapeLine(r.briefing.model.model)}</span> : null}
            {r.from ? <span className="muted">from <code>{shortOID(r.from)}</code></span> : null}
            {r.head ? <span className="muted">head <code>{shortOID(r.head)}</code></span> : null}
          </div>
          {!r.ended && r.claimed ? (
            <div aria-live="off">
              <span className="muted">now: </span>
              {escapeLine(doingText(r))}
            </div>
          ) : null}
          {r.error ? <div className="ink-bad wrap">✗ {escapeText(r.error)}</div> : null}
          {r.summary ? <Block className="small">{r.summary}</Block> : null}
          {(r.words ?? []).map((w, i) => (
            <div key={i} className="small">
              <span className="muted">told <When at={w.at} />: </span>
              {escapeLine(w.text)}
              {w.read === false ? <span className="ink-warn"> (not read: the run had no turn left)</span> : null}
            </div>
          ))}
          {r.refused.map((x, i) => (
            <div key={i} className="small ink-warn">
              ~ refused {x.kind}, {x.at_least ? "at least " : ""}{formatCount(x.times, "time")}: {escapeLine(x.what)}
            </div>
          ))}
        </div>
      </section>
      {r.claimed ? <Talk key={r.id} id={r.id} over={r.ended !== null} /> : <Panel title="Conversation" bare><Empty>It has not begun: it is on the queue.</Empty></Panel>}
    </div>
  );
}

interface TalkState {
  entries: TranscriptEntry[];
  outputs: LiveOutput[]; // of calls under way
  dropped: number;
  ended: boolean;
  problem: Problem | null;
  reading: boolean;
}

/** useTalk follows the conversation of a run; after a loss it is read again. */
function useTalk(id: string): TalkState {
  const [state, setState] = useState<TalkState>({ entries: [], outputs: [], dropped: 0, ended: false, problem: null, reading: true });
  useEffect(() => {
    const stop = new AbortController();
    let now: TalkState = { entries: [], outputs: [], dropped: 0, ended: false, problem: null, reading: true };
    const shown: Drawn = { listeners: new Set([() => setState(now)]) };
    const show = () => showSoon(shown);
    void (async () => {
      for (let tries = 0; !stop.signal.aborted && !now.ended; tries++) {
        const list = new EntryList();
        let outputs: LiveOutput[] = [];
        try {
          await readStream(`runs/${encodeURIComponent(id)}/transcript?visibility=full&follow=true`, {}, stop.signal, () => (tries = 0), (e) => {
            if (e.event === "end") {
              now = { entries: list.entries, outputs: [], dropped: list.dropped, ended: true, problem: null, reading: false };
              show();
              return;
            }
            if (e.event !== "message") return;
            const entry = JSON.parse(e.data) as TranscriptEntry;
            outputs = addOutput(outputs, entry);
            if (outputs !== now.outputs) now = { ...now, outputs };
            if (entry.output) {
              show();
              return;
            }
            if (entry.run || isSilent(entry)) return;
            list.add(entry);
            const { entries, dropped } = list;
            // Until a second read has what was shown, that stays.
            if (entries.length + dropped >= now.entries.length + now.dropped) now = { entries, outputs, dropped, ended: false, problem: null, reading: true };
            show();
          });
        } catch (err) {
          const p = asProblem(err);
          if (stop.signal.aborted || p.status === 401) return;
          now = { ...now, outputs: [], problem: p, reading: p.isLoss };
          show();
          if (!p.isLoss) return;
        }
        if (now.ended) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(10_000, 500 * 2 ** tries)));
      }
    })();
    return () => {
      stop.abort();
      shown.listeners.clear();
    };
  }, [id]);
  return state;
}

/** isSilent reports a turn without words: its calls stand for themselves. */
const isSilent = (e: TranscriptEntry): boolean => e.message?.role === "assistant" && e.message.content.trim() === "";

const keepEntry = (e: TranscriptEntry, needle: string, failed: boolean): boolean => {
  if (failed && !e.toolCall?.isError) return false;
  if (needle === "") return true;
  const text = e.message ? e.message.content : e.toolCall ? e.toolCall.name + " " + e.toolCall.arguments + " " + e.toolCall.result : "";
  return text.toLowerCase().includes(needle);
};

function Talk({ id, over }: { id: string; over: boolean }) {
  const talk = useTalk(id);
  const [text, setText] = useQuery("q");
  const [failed, setFailed] = useState(false);
  const [follow, setFollow] = useState(!over);
  const box = useRef<HTMLDivElement>(null);
  const moved = useRef(-Infinity); // when the person last moved the conversation
  const needle = text.toLowerCase();
  const entries = needle || failed ? talk.entries.filter((e) => keepEntry(e, needle, failed)) : talk.entries;
  const v = useVirtualizer({ count: entries.length, getScrollElement: () => box.current, estimateSize: () => 96, overscan: 6 });
  useEffect(() => {
    if (follow && entries.length > 0) v.scrollToIndex(entries.length - 1, { align: "end" });
  }, [entries.length + talk.dropped, follow, v.getTotalSize()]);
  // Entries that are measured, or that came at once, move the conversation away from its end, too:
  // only the person ends the following.
  const onMove = () => (moved.current = performance.now());
  const onScroll = () => {
    const b = box.current;
    if (b && follow && performance.now() - moved.current < 1000 && b.scrollHeight - b.scrollTop - b.clientHeight > 160) setFollow(false);
  };
  return (
    <Panel
      id="transcript"
      title="Conversation"
      bare
      aside={
        <div className="row">
          <span className="muted small num">{formatCount(entries.length, "entry").replace("entrys", "entries")}</span>
          <label className="check">
            <input type="checkbox" checked={failed} onChange={(e) => setFailed(e.target.checked)} /> failed only
          </label>
          <label>
            <span className="hidden-text">Search the conversation</span>
            <input data-filter type="search" placeholder="Search  /" value={text} onChange={(e) => setText(e.target.value)} />
          </label>
          <label className="check">
            <input type="checkbox" checked={follow} onChange={(e) => setFollow(e.target.checked)} data-testid="follow" /> follow
          </label>
        </div>
      }
    >
      {talk.problem && talk.entries.length === 0 ? <div className="body"><ProblemBox problem={talk.problem} /></div> : null}
      {talk.dropped > 0 ? <p className="stale">{talk.dropped} entries before are left out: company logs {id} shows all</p> : null}
      <div className="talk" ref={box} onScroll={onScroll} onTouchMove={onMove} onPointerDown={(e) => e.target === box.current && onMove()} onKeyDown={(e) => ["ArrowUp", "PageUp", "Home"].includes(e.key) && onMove()} onWheel={(e) => e.deltaY < 0 && setFollow(false)} tabIndex={0} role="log" aria-live="off" aria-label={"Conversation of " + id}>
        <div className="rows" style={{ height: v.getTotalSize() }}>
          {v.getVirtualItems().map((row) => {
            const e = entries[row.index];
            return e ? (
              <div key={row.key} ref={v.measureElement} data-index={row.index} style={{ position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${row.start}px)` }}>
                <EntryView e={e} />
              </div>
            ) : null;
          })}
        </div>
        {talk.entries.length === 0 && !talk.problem ? talk.reading ? <Skeleton what="the conversation" /> : <Empty>Nothing was said.</Empty> : null}
        {talk.entries.length > 0 && entries.length === 0 ? <Empty>No entry fits.</Empty> : null}
      </div>
      {talk.outputs.slice(-mostOutputs).map((o) => (
        <OutputView key={o.id} o={o} />
      ))}
    </Panel>
  );
}

const mostOutputs = 4; // calls whose output is shown

/** OutputView is what a call that is under way printed last. */
function OutputView({ o }: { o: LiveOutput }) {
  return (
    <section className="entry live-output" data-testid="live-output" aria-label={"Output of " + escapeLine(o.name) + " so far"}>
      <div className="top">
        <span aria-hidden="true">▶</span>
        <span className="tool-name">{escapeLine(o.name)}</span>
        <span className="mono wrap" style={{ color: "var(--text)" }}>
          {escapeLine(o.about)}
        </span>
        <span style={{ marginLeft: "auto" }}>
          runs <Age since={o.since} />
        </span>
      </div>
      <pre className="output">{escapeText((o.lines ?? []).join("\n"))}</pre>
    </section>
  );
}

const EntryView = memo(function EntryView({ e }: { e: TranscriptEntry }) {
  if (e.message) return <MessageView m={e.message} />;
  if (e.toolCall) return <CallView c={e.toolCall} />;
  return null;
});

function MessageView({ m }: { m: NonNullable<TranscriptEntry["message"]> }) {
  const long = m.role !== "assistant" && m.content.split("\n").length > 8;
  return (
    <article className={"entry " + m.role} data-testid={"entry-" + m.role}>
      <div className="top">
        <strong>{m.role === "assistant" ? "agent" : m.role === "user" ? "company" : m.role}</strong>
        <time className="num" dateTime={m.timestamp}>
          {formatTime(m.timestamp)}
        </time>
      </div>
      {long ? <Folded text={m.content} lines={6} label={"message of " + m.role} /> : <div className="wrap">{escapeText(m.content)}</div>}
    </article>
  );
}

function readArgs(text: string): Record<string, unknown> | null {
  try {
    const v: unknown = JSON.parse(text);
    return typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const asText = (v: unknown): string => (typeof v === "string" ? v : v === undefined ? "" : JSON.stringify(v));

/** CallView is one call of a tool: what was asked, and what came, folded. */
function CallView({ c }: { c: NonNullable<TranscriptEntry["toolCall"]> }) {
  const args = readArgs(c.arguments);
  const path = asText(args?.["path"] ?? args?.["command"] ?? args?.["pattern"] ?? args?.["message"] ?? args?.["summary"]);
  const before = args?.["old"] ?? args?.["old_text"] ?? args?.["old_string"] ?? args?.["find"];
  const after = args?.["new"] ?? args?.["new_text"] ?? args?.["new_string"] ?? args?.["replace"];
  const isEdit = typeof before === "string" && typeof after === "string";
  const content = c.name.includes("write") && typeof args?.["content"] === "string" ? (args["content"] as string) : null;
  const others = Object.entries(args ?? {}).filter(([k, v]) => asText(v) !== path && !(isEdit && (v === before || v === after)) && !(content !== null && k === "content"));
  return (
    <article className={"entry tool " + (c.isError ? "failed" : "")} data-testid="entry-tool">
      <div className="top">
        <span className={c.isError ? "ink-bad" : "ink-good"} aria-hidden="true">
          {c.isError ? "✗" : "✓"}
        </span>
        <span className="tool-name">{escapeLine(c.name)}</span>
        <span className="mono wrap" style={{ color: "var(--text)" }}>
          {escapeLine(cutText(path, 400).text)}
        </span>
        {c.isError ? <span className="ink-bad">failed</span> : null}
        <span className="num" style={{ marginLeft: "auto" }}>
          {formatTook(c.durationMs)}
        </span>
        <time className="num" dateTime={c.timestamp}>
          {formatTime(c.timestamp)}
        </time>
      </div>
      {args === null && c.arguments ? <pre>{escapeText(cutText(c.arguments, 2000).text)}</pre> : null}
      {others.length > 0 ? (
        <div className="small muted mono wrap">{others.map(([k, v]) => `${k}: ${escapeLine(cutText(asText(v), 200).text)}`).join("   ")}</div>
      ) : null}
      {isEdit ? <PlainDiff lines={diffOfEdit(before as string, after as string)} /> : null}
      {content !== null ? <PlainDiff lines={diffOfEdit("", content)} /> : null}
      {c.result ? <Folded text={c.result} lines={c.isError ? 12 : 3} label={"result of " + c.name} /> : null}
    </article>
  );
}
