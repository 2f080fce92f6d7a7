import { useEffect, useRef, useState } from "react";
import { formatTime, formatTook, formatUSD, type Tone } from "../lib/format.ts";
import { runPath, subtaskPath, taskPath } from "../lib/router.ts";
import { escapeLine } from "../lib/text.ts";
import type { FeedItem, Mark } from "../types.ts";
import { A, Sign } from "./parts.tsx";

export const markTones: Record<Mark, Tone> = { started: "run", done: "good", failed: "bad", needs_you: "need", stalled: "warn", info: "calm" };

const placeOf = (it: FeedItem): string | null =>
  it.run ? runPath(it.run) : it.subtask && it.task ? subtaskPath(it.task, it.subtask) : it.task ? taskPath(it.task) : null;

/** FeedList shows what happened, the newest first. */
export function FeedList({ items, most = 120 }: { items: FeedItem[]; most?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(-most);
  return (
    <>
      <ol className="feed" data-testid="feed">
        {shown
          .map((it, i) => (
            <li key={it.seq ?? "live" + i} data-seq={it.seq}>
              <time className="num muted" dateTime={it.time}>
                {formatTime(it.time)}
              </time>
              <Sign tone={markTones[it.mark] ?? "calm"} />
              <span className="subject cut mono">
                {placeOf(it) ? <A to={placeOf(it) ?? "/"}>{it.subtask || it.task}</A> : null}
              </span>
              <span className="wrap">
                <span className="hidden-text">{it.mark.replaceAll("_", " ")}: </span>
                {escapeLine(it.text)}
                {(it.lines ?? []).slice(0, 8).map((line, n) => (
                  <span key={n} className="lines">
                    {escapeLine(line)}
                  </span>
                ))}
              </span>
              <span className="after num muted">
                {[it.duration_ms ? formatTook(it.duration_ms) : "", it.cost_micro_usd != null ? formatUSD(it.cost_micro_usd) : ""].filter((s) => s).join("  ")}
              </span>
            </li>
          ))
          .reverse()}
      </ol>
      {items.length > most && !all ? (
        <p className="empty">
          <button onClick={() => setAll(true)}>Show {items.length - most} older</button>
        </p>
      ) : null}
    </>
  );
}

/** Announcer tells screen readers what matters, at most once in five seconds. */
export function Announcer({ items }: { items: FeedItem[] }) {
  const [text, setText] = useState("");
  const seen = useRef(items[items.length - 1]?.seq ?? 0);
  const due = useRef(false);
  const newest = useRef(items);
  newest.current = items;
  useEffect(() => {
    if (due.current) return;
    due.current = true;
    const id = setTimeout(() => {
      due.current = false;
      const first = seen.current === 0;
      const fresh = newest.current.filter((it) => (it.seq ?? 0) > seen.current && ["needs_you", "failed", "done"].includes(it.mark));
      seen.current = newest.current[newest.current.length - 1]?.seq ?? seen.current;
      const last = fresh[fresh.length - 1];
      if (last && !first) setText(`${fresh.length > 1 ? fresh.length + " events; the newest: " : ""}${last.subtask || last.task || "office"}: ${escapeLine(last.text)}`);
    }, 5000);
    return () => {
      clearTimeout(id);
      due.current = false;
    };
  }, [items.length > 0, Math.floor((items[items.length - 1]?.seq ?? 0) / 1)]);
  return (
    <div className="hidden-text" role="log" aria-live="polite" data-testid="announcer">
      {text}
    </div>
  );
}
