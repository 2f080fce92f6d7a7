package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// floodScript has a page get answers of a much larger office: thousands of questions and pull
// requests, a change of hundreds of whole files, a conversation of 60 MB. It counts the streams
// that are open. window.hide puts the page out of sight; window.deny ends its session.
const floodScript = `(() => {
	const real = window.fetch, many = 3000;
	let denied = false, hidden = false;
	window.openStreams = 0;
	window.deny = () => { denied = true; };
	Object.defineProperty(Document.prototype, "hidden", { get: () => hidden });
	window.hide = (on) => { hidden = on; document.dispatchEvent(new Event("visibilitychange")); };
	const json = (v, status = 200) => new Response(JSON.stringify(v), { status, headers: { "Content-Type": "application/json" } });
	const options = [{ name: "approve", means: "it goes on" }, { name: "reject", means: "it stops", input: "words" }];
	const questions = Array.from({ length: many }, (_, i) => ({ id: "a" + (i + 1), kind: "merge", task: "t1", subtask: "t1-" + (i + 1), question: "Merge it?", asked: "2026-01-01T00:00:00Z",
		options: i % 2 ? options : [...options, { name: "retry", means: "once more" }] }));
	const pulls = Array.from({ length: many }, (_, i) => ({ number: i + 1, task: "t" + (i + 1), title: "Pull", state: "open", branch: "b", base: "main", head: "0123456789", url: "https://github.com@evil.test/1", project: { id: "p", path: "/p" } }));
	const changes = (same) => Array.from({ length: 300 }, (_, f) => "diff --git a/f"+f+"\u202e.go b/f"+f+"\u202e.go\n--- a/f"+f+"\u202e.go\n+++ b/f"+f+"\u202e.go\n@@ -1,"+same+" +1,"+(same+1)+" @@\n" + " x := f(1)\n".repeat(same) + "+y\n").join("");
	const talk = (signal) => {
		let n = 0;
		const result = "a line of output\n".repeat(12000), encoder = new TextEncoder();
		return new ReadableStream({ start(c) {
			const beat = setInterval(() => c.enqueue(encoder.encode(": beat\n\n")), 5000);
			signal.addEventListener("abort", () => { clearInterval(beat); c.error(signal.reason); }, { once: true });
		}, pull(c) {
			if (n++ < 300) c.enqueue(encoder.encode("data: " + JSON.stringify({ toolCall: { id: "c" + n, name: "run_command", arguments: "{}", result: n + result, isError: false, durationMs: 1, timestamp: "2026-01-01T00:00:00Z" } }) + "\n\n"));
			else return new Promise(() => {});
		} });
	};
	window.fetch = async (url, init) => {
		const path = String(url).replace("/api/v1/", "");
		if (denied) return json({ title: "the request carries no token that is good now", code: "E_ACCESS" }, 401);
		if (/^diffs\//.test(path)) return json({ of: "t1", from: "1", to: "2", stat: "", patch: changes(path.includes("context=") ? 999 : 3), notes: [] });
		if (path === "prs") return json(pulls);
		if (path === "overview") return json({ ...await (await real(url, init)).json(), needs_you: questions, open_prs: pulls });
		if (/^runs\/[^\/]*$/.test(path)) { // it is still under way
			const shown = await (await real(url, init)).json();
			return json({ ...shown, run: { ...shown.run, ended: null } });
		}
		if (/transcript|^events/.test(path)) {
			window.openStreams++;
			init.signal.addEventListener("abort", () => window.openStreams--, { once: true });
		}
		return path.includes("transcript") ? new Response(talk(init.signal), { headers: { "Content-Type": "text/event-stream" } }) : real(url, init);
	};
})()`

// mostElements bounds what a page draws at once.
const mostElements = 30_000

// atEndOfTalk is true where a conversation is scrolled to its end.
const atEndOfTalk = "(t => t.scrollHeight > t.clientHeight && t.scrollHeight - t.scrollTop - t.clientHeight < " +
	"160)(document.querySelector('.talk'))"

// hiddenInAttributes lists what a reader hears or sees of an element beside its text, where that has
// a character that turns text round.
const hiddenInAttributes = `[...document.querySelectorAll("*")].flatMap(e => ["aria-label", "title", "alt", "placeholder"].map(a => e.getAttribute(a) ?? "")).filter(v => /[\u202a-\u202e]/.test(v)).slice(0, 5)`

// checkFloods: what a page draws and keeps is bounded, however much there is; it holds no connection
// while it is out of sight; and what was typed stays when the session ends.
func checkFloods(browser context.Context, t *testing.T, link, base string) {
	t.Helper()
	b := openTab(browser, t)
	b.do("prepare a flood", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, page.Enable, page.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: floodScript})
		return err
	}))
	bounded := func(what string) {
		t.Helper()
		if n := evaluate[int](b, "document.querySelectorAll('*').length"); n > mostElements {
			t.Errorf("%s is drawn with %d elements", what, n)
		}
	}
	b.open(link)
	b.see("needs-you", "more questions")
	bounded("the overview")
	b.click("nav-inbox")
	b.see("question-a1", "Merge it?")
	bounded("the inbox")
	b.click("more-questions")
	b.see("question-a31", "Merge it?")
	b.until(fmt.Sprintf("document.querySelectorAll(%q).length === 2", "section"+byID("several-merge")))
	b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.see("palette", "Answer a1")
	evaluate[bool](b, axe+";true")
	if bad := evaluate[string](b,
		`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + " " + v.nodes[0].html).join())`); bad != "" {
		t.Errorf("axe on the palette over the inbox: %s", bad)
	}
	b.do("close the palette", chromedp.KeyEvent(kb.Escape))
	b.gone("palette")
	b.click("nav-prs")
	b.see("pr-3000", "open")
	bounded("the list of pull requests")
	b.open(base + "prs?pr=t1")
	b.see("page-prs", "#1")
	if evaluate[bool](b, "[...document.querySelectorAll('main a')].some(a => a.hostname === 'evil.test')") {
		t.Error("an address that hides its host is a link")
	}

	b.open(base + "review/t1")
	b.see("diff-file", "f0<U+202E>.go")
	if odd := evaluate[[]string](b, hiddenInAttributes); len(odd) > 0 {
		t.Errorf("what turns text round is in %q", odd)
	}
	bounded("a change of 300 files")
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q);
		s.value = "100000";
		return s.dispatchEvent(new Event("change", { bubbles: true }));
	})()`, byID("context")))
	b.until("document.querySelectorAll('.diff .line').length > 900")
	bounded("a change of 300 whole files")

	b.open(base + "r/t1-01.1")
	b.see("transcript", "entries before are left out")
	b.see("transcript", "a line of output")
	b.until(fmt.Sprintf("document.querySelector(%q).checked", byID("follow")))
	b.until(atEndOfTalk)
	time.Sleep(time.Second) // entries are measured once they are drawn
	if !evaluate[bool](b, fmt.Sprintf("document.querySelector(%q).checked && ", byID("follow"))+atEndOfTalk) {
		t.Error("the conversation of a run under way is not followed to its end")
	}
	evaluate[bool](b, "(() => { const t = document.querySelector('.talk'); t.focus(); t.dispatchEvent(new "+
		"KeyboardEvent('keydown', { key: 'Home', bubbles: true })); t.scrollTop = 0; return true; })()")
	b.until(fmt.Sprintf("!document.querySelector(%q).checked", byID("follow"))) // the person reads on elsewhere
	b.until("openStreams === 2")                                                // the feed and the conversation
	evaluate[bool](b, "hide(true), true")
	b.until("openStreams === 0")
	evaluate[bool](b, "hide(false), true")
	b.until("openStreams === 2")
	b.noErrors("in a flood")

	for range 2 { // the browser closes a dialog by itself, as at a second Esc: it can be opened again
		b.click("stop-office")
		b.until(fmt.Sprintf("document.querySelector(%q)?.open", byID("dialog")))
		evaluate[bool](b, fmt.Sprintf("document.querySelector(%q).close(), true", byID("dialog")))
		b.gone("dialog")
	}

	b.click("nav-submit")
	b.enter(byID("instruction"), "a long instruction")
	checkTypedStays(b, base)
	evaluate[bool](b, "deny(), true")
	b.see("denied", "company open")
	if text := evaluate[string](b,
		fmt.Sprintf("document.querySelector(%q)?.value ?? ''", byID("instruction"))); text != "a long instruction" {
		t.Errorf("what was typed is %q when the session ends", text)
	}
}

// checkTypedStays: what is typed on a page is there again after another page, after Escape, which
// goes back, and after the page is loaded again; the tab is on the form of a task, with words in it,
// and is there again at the end.
func checkTypedStays(b *tab, base string) {
	b.t.Helper()
	kept := func(what, selector, want string) {
		b.t.Helper()
		b.until(fmt.Sprintf("document.querySelector(%q)", selector))
		if text := evaluate[string](b, fmt.Sprintf("document.querySelector(%q).value", selector)); text != want {
			b.t.Errorf("%s: what was typed is %q, not %q", what, text, want)
		}
	}
	b.click("nav-inbox")
	b.enter(byID("words-a1"), "some words")
	b.do("leave the field, then the page", chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape))
	b.see("page-submit", "")
	kept("the form after another page", byID("instruction"), "a long instruction")
	b.click("nav-inbox")
	kept("a question after Escape", byID("words-a1"), "some words")

	b.open(base + "review/t1")
	b.see("diff-file", "")
	evaluate[bool](b, "document.querySelector('.diff button.no').click(), true")
	b.until("document.querySelector('.finding.mine textarea')")
	b.enter(".finding.mine textarea", "why this?")
	b.click("keep-comment")
	b.click("nav-prs")
	b.open(base + "review/t1")
	b.until("document.querySelector('.finding.mine')?.innerText.includes('why this?')")
	b.click("nav-submit")
	kept("the form of a page that is loaded again", byID("instruction"), "a long instruction")
}
