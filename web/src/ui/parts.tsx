import type { MouseEvent, ReactNode } from "react";
import type { Problem } from "../lib/api.ts";
import { formatAge, formatTime, signs, type State, type Tone } from "../lib/format.ts";
import { hostBehind, isWebAddress } from "../lib/markdown.ts";
import { goTo } from "../lib/router.ts";
import { askAgain, type Entry } from "../lib/store.ts";
import { escapeLine, escapeText } from "../lib/text.ts";
import { useLate, useNow } from "./hooks.ts";

/** A is a link to another place of the page. */
export function A({ to, children, ...rest }: { to: string; children: ReactNode } & Omit<React.AnchorHTMLAttributes<HTMLAnchorElement>, "href">) {
  const onClick = (e: MouseEvent<HTMLAnchorElement>) => {
    rest.onClick?.(e);
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    goTo(to);
  };
  return (
    <a {...rest} href={to} onClick={onClick}>
      {children}
    </a>
  );
}

/** Out is a link to a forge, and says where it leads; another address is shown as text. */
export function Out({ url, children }: { url: string | undefined; children: ReactNode }) {
  if (!url || !isWebAddress(url)) return <>{children}</>;
  const host = hostBehind(url, typeof children === "string" ? [{ kind: "text", text: children }] : []);
  return (
    <>
      <a href={url} target="_blank" rel="noopener noreferrer">
        {children}
        <span className="hidden-text"> (opens the forge)</span>
      </a>
      {host ? <span className="muted"> ({host})</span> : null}
    </>
  );
}

/** T is text of others, in a line. */
export const T = ({ children }: { children: string | undefined | null }) => <>{escapeLine(children ?? "")}</>;

/** Block is text of others with its line breaks. */
export const Block = ({ children, className = "" }: { children: string | undefined | null; className?: string }) => (
  <div className={"wrap " + className}>{escapeText(children ?? "")}</div>
);

export function Badge({ state }: { state: State }) {
  return (
    <span className={"badge tone-" + state.tone}>
      <span aria-hidden="true">{signs[state.tone]}</span>
      {state.text}
    </span>
  );
}

export const Sign = ({ tone }: { tone: Tone }) => (
  <span className={"sign ink-" + tone} aria-hidden="true">
    {signs[tone]}
  </span>
);

/** Age counts on from a time. */
export function Age({ since }: { since: string | number }) {
  const now = useNow();
  const at = typeof since === "number" ? since : Date.parse(since);
  return (
    <time className="num" dateTime={new Date(at).toISOString()} title={formatTime(at)}>
      {formatAge(now - at)}
    </time>
  );
}

export const When = ({ at }: { at: string }) => (
  <time className="num" dateTime={at}>
    {formatTime(at)}
  </time>
);

export function Bar({ part, tone = "", label }: { part: number; tone?: string; label: string }) {
  const percent = Math.max(0, Math.min(100, part * 100));
  return (
    <span className={"bar " + tone} role="img" aria-label={label}>
      <span style={{ width: percent + "%" }} />
    </span>
  );
}

export function Panel({ title, aside, children, bare = false, id }: { title: ReactNode; aside?: ReactNode; children: ReactNode; bare?: boolean; id?: string }) {
  return (
    <section className="panel" data-testid={id}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {bare ? children : <div className="body">{children}</div>}
    </section>
  );
}

export const Empty = ({ children }: { children: ReactNode }) => <p className="empty">{children}</p>;

export function Skeleton({ what }: { what: string }) {
  return (
    <div className="skeleton" role="status" aria-label={"reading " + what}>
      <span />
      <span />
      <span />
      <span />
    </div>
  );
}

/** ProblemBox tells what happened, why, and what to do. */
export function ProblemBox({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <div className="what">
        <T>{problem.message}</T>
        {problem.code ? <span className="mono small"> [{problem.code}]</span> : null}
      </div>
      {problem.detail ? (
        <div className="small">
          <span className="muted">why: </span>
          <T>{problem.detail}</T>
        </div>
      ) : null}
      {problem.hint ? (
        <div className="small">
          <span className="muted">fix: </span>
          <T>{problem.hint}</T>
        </div>
      ) : null}
      {retry ? (
        <div>
          <button onClick={retry}>Try again</button>
        </div>
      ) : null}
    </div>
  );
}

/** Read shows a resource: nothing for a moment, a skeleton, a problem, or what there is with its age. */
export function Read<T>({ entry, path, what, missing, heading, children }: { heading?: string; entry: Entry<T>; path: string; what: string; missing?: ReactNode; children: (data: T) => ReactNode }) {
  const late = useLate(entry.data === undefined && entry.problem === null);
  if (entry.data === undefined) {
    const title = heading ? <h1 className="hidden-text">{heading}</h1> : null;
    if (entry.problem) {
      if (entry.problem.isMissing && missing) return <Empty>{missing}</Empty>;
      return (
        <>
          {title}
          <ProblemBox problem={entry.problem} retry={() => askAgain(path)} />
        </>
      );
    }
    return (
      <>
        {title}
        {late ? <Skeleton what={what} /> : null}
      </>
    );
  }
  return (
    <>
      {entry.problem ? (
        <p className="stale over" role="status">
          <T>{entry.problem.message}</T>: this is <Age since={entry.at} /> old
        </p>
      ) : null}
      {children(entry.data)}
    </>
  );
}

/** Tabs are links that set a field of the address. */
export function Tabs({ label, tabs, now, href }: { label: string; tabs: { id: string; text: ReactNode }[]; now: string; href: (id: string) => string }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((t) => (
        <A key={t.id} to={href(t.id)} aria-current={t.id === now ? "true" : undefined} data-testid={"tab-" + t.id}>
          {t.text}
        </A>
      ))}
    </nav>
  );
}
