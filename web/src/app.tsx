import { Component, useEffect, useRef, useState, type ReactNode } from "react";
import { askStop, resumeOffice } from "./lib/actions.ts";
import { formatCost, workText } from "./lib/format.ts";
import { focusHeading } from "./lib/focus.ts";
import { jumps, listenToKeys } from "./lib/keys.ts";
import { retryNow } from "./lib/live.ts";
import { countWaiting } from "./lib/pulls.ts";
import { goTo, type Route } from "./lib/router.ts";
import { applyTheme, readTheme, type Theme } from "./lib/theme.ts";
import { escapeLine } from "./lib/text.ts";
import type { Overview } from "./types.ts";
import { CostsPage } from "./pages/costs.tsx";
import { DoctorPage } from "./pages/doctor.tsx";
import { InboxPage } from "./pages/inbox.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { PullsPage } from "./pages/prs.tsx";
import { ReviewPage } from "./pages/review.tsx";
import { RunPage } from "./pages/run.tsx";
import { SettingsPage } from "./pages/settings.tsx";
import { SubmitPage } from "./pages/submit.tsx";
import { TaskPage } from "./pages/task.tsx";
import { Dialogs } from "./ui/dialog.tsx";
import { Announcer } from "./ui/feedlist.tsx";
import { useFeed, useLink, useNow, useQuery, useResource, useRoute } from "./ui/hooks.ts";
import { closeNotices, Notices } from "./ui/notices.tsx";
import { Palette } from "./ui/palette.tsx";
import { A, Age, Empty } from "./ui/parts.tsx";

const pages: { to: string; page: Route["page"]; text: string }[] = [
  { to: "/", page: "overview", text: "Overview" },
  { to: "/inbox", page: "inbox", text: "Inbox" },
  { to: "/submit", page: "submit", text: "New task" },
  { to: "/prs", page: "prs", text: "Pull requests" },
  { to: "/costs", page: "costs", text: "Costs" },
  { to: "/doctor", page: "doctor", text: "Doctor" },
  { to: "/settings", page: "settings", text: "Settings" },
];

export function App({ denied }: { denied: string }) {
  const link = useLink();
  const shown = useRef(false);
  if (denied || (link.state === "denied" && !shown.current)) return <Denied why={denied} />;
  if (link.state === "live") shown.current = true;
  return <Frame />;
}

function Frame() {
  const route = useRoute();
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const [menu, setMenu] = useState(false);
  const overview = useResource<Overview>("overview");
  const items = useFeed();
  const o = overview.data;
  const needs = countWaiting(o);
  useEffect(
    () =>
      listenToKeys(
        () => setHelp(true),
        () => setPalette(true),
        () => {
          if (closeNotices()) return;
          setMenu(false);
          if (location.search.includes("s=") && location.pathname.startsWith("/t/")) goTo(location.pathname);
          else if (location.pathname !== "/") history.length > 1 ? history.back() : goTo("/");
        },
      ),
    [],
  );
  const [pull] = useQuery("pr");
  const key = route.page + route.id + (route.page === "prs" ? pull : "");
  const first = useRef(key);
  useEffect(() => {
    setMenu(false);
    scrollTo(0, 0);
    if (first.current === key) return;
    first.current = "";
    return focusHeading();
  }, [key]);
  useEffect(() => {
    const name = route.id || (pages.find((p) => p.page === route.page)?.text ?? "");
    document.title = `${needs > 0 ? `(${needs}) ` : ""}${name} · company${o?.office ? " " + o.office : ""}`;
  }, [key, needs, o?.office]);
  return (
    <>
      <a className="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>
        Skip to the page
      </a>
      <div className="frame">
        <Head o={o} menu={menu} setMenu={setMenu} showHelp={() => setHelp(true)} showPalette={() => setPalette(true)} />
        <LinkBanner />
        <nav className={"side " + (menu ? "open" : "")} aria-label="Pages" id="pages">
          <ul>
            {pages.map((p) => (
              <li key={p.to}>
                <A to={p.to} aria-current={route.page === p.page ? "page" : undefined} data-testid={"nav-" + p.page}>
                  {p.text}
                  {p.page === "inbox" && needs > 0 ? (
                    <span className="count">
                      {needs}
                      <span className="hidden-text"> wait for you</span>
                    </span>
                  ) : null}
                </A>
              </li>
            ))}
          </ul>
        </nav>
        <main className="main" id="main" tabIndex={-1} data-testid={"page-" + route.page}>
          <Guard key={key}>
            <PageOf route={route} />
          </Guard>
        </main>
      </div>
      <Announcer items={items} />
      <Notices />
      <Dialogs />
      {palette ? <Palette o={o} close={() => setPalette(false)} /> : null}
      {help ? <Help close={() => setHelp(false)} /> : null}
    </>
  );
}

function PageOf({ route }: { route: Route }) {
  switch (route.page) {
    case "overview":
      return <OverviewPage />;
    case "submit":
      return <SubmitPage />;
    case "inbox":
      return <InboxPage />;
    case "prs":
      return <PullsPage />;
    case "costs":
      return <CostsPage />;
    case "doctor":
      return <DoctorPage />;
    case "settings":
      return <SettingsPage />;
    case "task":
      return <TaskPage id={route.id} />;
    case "run":
      return <RunPage id={route.id} />;
    case "review":
      return <ReviewPage id={route.id} />;
    case "unknown":
      return (
        <>
          <h1>There is no such page</h1>
          <Empty>
            There is no page <code>{escapeLine(route.id)}</code>. <A to="/">To the overview</A>
          </Empty>
        </>
      );
  }
}

function Head({ o, menu, setMenu, showHelp, showPalette }: { o: Overview | undefined; menu: boolean; setMenu: (on: boolean) => void; showHelp: () => void; showPalette: () => void }) {
  const link = useLink();
  const [theme, setTheme] = useState<Theme>(readTheme);
  const next: Record<Theme, Theme> = { auto: "dark", dark: "light", light: "auto" };
  const needs = countWaiting(o);
  let state = "";
  let tone = "calm";
  if (link.state === "lost") [state, tone] = ["connection lost", "bad"];
  else if (link.state === "denied") [state, tone] = ["session ended", "bad"];
  else if (o?.stopped) [state, tone] = ["STOPPED", "warn"];
  else if (o && !o.open) [state, tone] = ["nobody works here now", "calm"];
  else if (o) [state, tone] = [workText(o), o.running.length + o.steps.length === 0 ? "calm" : "good"];
  return (
    <header className="head">
      <button className="menu-button plain" aria-expanded={menu} aria-controls="pages" aria-label="Pages" onClick={() => setMenu(!menu)}>
        ☰
      </button>
      <A to="/" className="name">
        company
      </A>
      <div className="facts small">
        {o?.office ? <span className="mono muted wide">{o.office}</span> : null}
        {state ? (
          <span className={"badge tone-" + tone} data-testid="office-state">
            {state}
          </span>
        ) : null}
        {o ? <span className="muted num wide">{formatCost(o.cost_micro_usd, o.tokens)}</span> : null}
      </div>
      <div className="right">
        {needs > 0 ? (
          <A to="/inbox" className="count" aria-label={`${needs} wait for you`} data-testid="needs-count">
            ! {needs}
          </A>
        ) : null}
        <button className="plain wide" onClick={showPalette} title="go to a page, a task or an id: Ctrl-K" data-testid="open-palette">
          Go to …
        </button>
        {o?.stopped ? (
          <button className="primary" onClick={resumeOffice} data-testid="resume-office">
            Resume
          </button>
        ) : o?.open ? (
          <button onClick={askStop} data-testid="stop-office">
            Stop
          </button>
        ) : null}
        <button
          className="plain"
          onClick={() => {
            setTheme(next[theme]);
            applyTheme(next[theme]);
          }}
          aria-label={`Colours: ${theme === "auto" ? "as the system" : theme}. Change`}
          title={`colours: ${theme === "auto" ? "as the system" : theme}`}
          data-testid="theme"
        >
          {{ auto: "◐", dark: "●", light: "○" }[theme]}
        </button>
        <button className="plain" onClick={showHelp} aria-label="Keys" title="keys: ?">
          ?
        </button>
      </div>
    </header>
  );
}

function LinkBanner() {
  const link = useLink();
  const [since, setSince] = useState(0);
  useEffect(() => {
    setSince(link.state === "lost" ? link.since : 0);
  }, [link.state]);
  // What was typed is not taken away: it can be copied to the page of the fresh link.
  if (link.state === "denied") {
    return (
      <div className="banner" role="alert" data-testid="denied">
        <strong>This page needs a fresh link</strong>
        <span>
          its session has ended, or the company was restarted. <code>company open</code> prints one, on the machine where the company works. What is shown is <Age since={link.since} /> old.
        </span>
      </div>
    );
  }
  if (link.state !== "lost" || since === 0) return null;
  return (
    <div className="banner" role="alert" data-testid="disconnected">
      <strong>Connection lost</strong>
      <button onClick={retryNow}>Try now</button>
      <span>
        what is shown is <Age since={since} /> old; {escapeLine(link.why)}.
      </span>
      <RetryIn at={link.retryAt} />
    </div>
  );
}

function RetryIn({ at }: { at: number }) {
  useNow();
  const s = Math.ceil((at - Date.now()) / 1000);
  return <span className="num">{at === 0 || s <= 0 ? "trying …" : `trying again in ${s}s`}</span>;
}

function Denied({ why }: { why: string }) {
  return (
    <main className="alone" data-testid="denied">
      <div className="panel">
        <div className="body stack">
          <h1>This page needs a fresh link</h1>
          <p>{escapeLine(why || "Its token is missing, has expired, or is of a company that has ended.")}</p>
          <p>On the machine where the company works, in its repository:</p>
          <pre>company open</pre>
          <p className="muted small">It prints a link that can be used once. Each tab and each browser needs its own.</p>
        </div>
      </div>
    </main>
  );
}

const keyList: [string, string][] = [
  ["?", "these keys"],
  ["Ctrl-K", "go to a page, a task, a question or an id"],
  ...Object.entries(jumps).map(([k, j]): [string, string] => ["g " + k, j.name]),
  ["j  k", "the next row, the one before"],
  ["Enter", "open the row, press the button; comment on a line of a diff"],
  ["↑  ↓", "the lines of a diff, after Tab to one"],
  ["/", "filter, search"],
  ["Esc", "close, go back"],
];

function Help({ close }: { close: () => void }) {
  return (
    <dialog ref={(d) => { if (d && !d.open) d.showModal(); }} onClose={close} aria-labelledby="help-title" data-testid="help">
      <div className="sheet">
        <h2 id="help-title">Keys</h2>
        <dl className="facts-list">
          {keyList.map(([k, what]) => [
            <dt key={k}>
              {k.split(" ").filter((x) => x).map((x) => (
                <span key={x}>
                  <kbd>{x}</kbd>{" "}
                </span>
              ))}
            </dt>,
            <dd key={k + "d"}>{what}</dd>,
          ])}
        </dl>
        <p className="muted small">✓ done · ▸ begun · ! needs you · ~ look at it · ✗ failed. A cost is of runs that have ended.</p>
        <div className="row">
          <button className="primary" onClick={close} autoFocus>
            Close
          </button>
        </div>
      </div>
    </dialog>
  );
}

/** Guard keeps one broken page from taking the frame with it. */
class Guard extends Component<{ children: ReactNode }, { why: string }> {
  override state = { why: "" };

  static getDerivedStateFromError(err: unknown): { why: string } {
    return { why: err instanceof Error ? err.message : String(err) };
  }

  override render(): ReactNode {
    if (!this.state.why) return this.props.children;
    return (
      <div className="problem" role="alert">
        <div className="what">This part of the page broke.</div>
        <div className="small">why: {escapeLine(this.state.why)}</div>
        <div>
          <button onClick={() => this.setState({ why: "" })}>Show it again</button>
        </div>
      </div>
    );
  }
}
