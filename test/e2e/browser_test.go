package e2e

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/safebuffer"
	"company/test/testenv"
)

// serveForBrowser serves an office at an address of its own, and gives the link that stdout
// has, over a line that can be cut.
func serveForBrowser(t *testing.T, h *testenv.House) (link string, l *line) {
	t.Helper()
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.Config(tinyGates + fmt.Sprintf("serve: {listen: %q, hosts: [%q]}\n", freeAddress(t), own.Addr()))
	var out, errs safebuffer.Buffer
	cmd := h.Command("serve")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve: %v\n%s", err, errs.String())
		}
	})
	waitFor(t, func() bool { return strings.Contains(out.String(), "/#t=") && strings.HasSuffix(out.String(), "\n") },
		func() string { return "no link:\n" + out.String() + errs.String() })
	served, err := url.Parse(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	to := served.Host
	l = startLine(t, own, to)
	return strings.Replace(strings.TrimSpace(out.String()), to, own.Addr().String(), 1), l
}

// freeAddress is an address of this machine whose port was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// freshLink is a link of company open, over the same line.
func freshLink(h *testenv.House, l *line) string {
	var link struct{ URL string }
	h.JSON(&link, "open", "--no-browser")
	return strings.Replace(link.URL, l.to, l.listener.Addr().String(), 1)
}

// TestBrowser: in a real browser, the president opens the link of company serve, submits a
// task, approves its plan, watches its worker, loses the connection and regains it, loads
// the page again, opens a second tab, cancels another task, and sees the pull request. Text
// of strangers runs no script and makes no request; a page of another origin has no effect
// (UI-2, T19).
func TestBrowser(t *testing.T) {
	t.Parallel()
	held, second := stopAt("t1-01.1", 1), stopAt("t2-01.1", 0)
	brain := &staff{
		manager: submitPlan([]m{ticket("Add <img src=x onerror=pwned=6>", hostileTyped, "odd.txt", hostileName)}),
		worker:  writeFilesAndFinish("Add odd text", "odd.txt", hostile+"\n", hostileName, "echo odd\n"),
		stops:   []*stop{held, second},
	}
	h := openTinyProject(t, brain)
	h.LetManagerPlan()
	t.Cleanup(held.release)
	t.Cleanup(second.release)
	link, l := serveForBrowser(t, h)
	base := "http://" + l.listener.Addr().String() + "/"
	browser := startBrowser(t)

	b := openTab(browser, t)
	b.open(link)
	b.see("page-overview", "")
	b.until("location.hash === '' && !location.href.includes('t=')")

	b.click("nav-submit")
	b.enter(byID("instruction"), hostileTyped)
	b.do("ask before the plan", chromedp.Click(chromedp.CSS("fieldset label:nth-of-type(1) input")))
	b.click("submit")
	b.see("page-task", "t1")
	b.click("nav-inbox")
	b.see("question-a1", "the plan")
	b.missMoving("approve-a1")
	b.see("question-a1", "the plan")
	b.noErrors("before the answer")
	b.click("approve-a1")
	b.gone("question-a1")

	select {
	case <-held.reached:
	case <-time.After(patience):
		t.Fatalf("no worker is at work:\n%s", b.text())
	}
	b.click("nav-overview")
	b.click("run-t1-01.1")
	b.see("page-run", "t1-01.1")
	b.see("entry-tool", "odd.txt")
	b.do("load it again", chromedp.Reload())
	b.see("entry-tool", "odd.txt")
	b.noErrors("at work")

	l.cut()
	b.see("disconnected", "Connection lost")
	l.mend()
	b.gone("disconnected")
	b.takeErrors() // those of the lost connection

	two := openTab(browser, t)
	two.open(freshLink(h, l))
	two.see("run-t1-01.1", "")
	stranger := openTab(browser, t, chromedp.WithNewBrowserContext())
	stranger.open(link)
	stranger.see("denied", "company open")

	h.MustRun(patience, "submit", "--detach", "another task")
	two.open(base + "t/t2")
	two.click("cancel")
	two.until(fmt.Sprintf("document.querySelector(%q)?.disabled", byID("dialog-confirm")))
	two.enter(byID("dialog")+" input", "t2")
	two.click("dialog-confirm")
	two.see("task-head", "cancelled")
	if s := taskStatus(h, "t2"); s != "cancelled" {
		t.Errorf("t2 is %s in the ledger", s)
	}
	two.noErrors("in the second tab")

	held.release()
	b.open(base + "t/t1")
	b.see("task-head", "#1 open")
	if s := taskStatus(h, "t1"); s != "completed" {
		t.Errorf("t1 is %s in the ledger", s)
	}
	checkDelivered(t, h, 1, 1, 1)
	checkPullPage(b)
	checkNarrow(b, base)
	b.noErrors("at the end")

	checkHostileText(b, base)
	checkAccessible(b, base)
	checkStrangePage(browser, t, b, base)
	t.Run("floods", func(t *testing.T) {
		hosttest.Long(t, "an office that is much larger")
		checkFloods(browser, t, freshLink(h, l), base)
	})
	for _, x := range []*tab{b, two, stranger} {
		x.askedOnly(base)
	}
}

// checkPullPage: the pull request of t1 waits for the president, is drawn from its Markdown,
// and its commands can be copied.
func checkPullPage(b *tab) {
	b.t.Helper()
	b.see("needs-count", "! 1")
	b.click("nav-inbox")
	b.see("waiting-pr-1", "t1")
	b.click("nav-overview")
	b.see("needs-you", "waits for your review")
	b.click("task-t1")
	b.see("task-head", "#1 open")
	b.until("document.activeElement === document.querySelector('main h1')")
	b.click("task-pr")
	b.see("pr-text", "How it was checked")
	b.until("document.querySelector('.markdown h4') && document.querySelector('.markdown table td code') && " +
		"document.querySelector('.markdown details summary')")
	if text := evaluate[string](b, "document.querySelector('.markdown').innerText"); strings.Contains(text, "**") ||
		strings.Contains(text, "|---") {
		b.t.Errorf("the text is raw Markdown:\n%s", text)
	}
	for _, command := range []string{"company pr checkout t1", "company pr merge t1"} {
		button := fmt.Sprintf("button[aria-label='Copy: %s']", command)
		b.settle(button)
		b.do("copy "+command, chromedp.Click(chromedp.CSS(button)))
		b.until(fmt.Sprintf("document.querySelector(%q).innerText === 'Copied'", button))
	}
}

// checkNarrow: what was drawn for a wide window fits when it gets narrow, and the decision on a
// change comes before its files; a diff has colours, stands side by side, and its files are seen; the palette goes to a
// run.
func checkNarrow(b *tab, base string) {
	b.t.Helper()
	b.open(base + "t/t1")
	b.see("graph", "t1-01")
	b.do("make the window narrow", chromedp.EmulateViewport(390, 844))
	b.until(`(() => {
		const box = document.querySelector("[data-testid=graph]").getBoundingClientRect();
		const nodes = [...document.querySelectorAll(".react-flow__node")].map(n => n.getBoundingClientRect());
		return box.width < 390 && nodes.length > 0 && nodes.every(n => n.left >= box.left && n.right <= box.right);
	})()`)
	b.open(base + "review/t1")
	b.see("diff-file", "")
	b.until(fmt.Sprintf(
		`document.querySelector(%q)?.getBoundingClientRect().bottom < document.querySelector(%q).getBoundingClientRect().top`,
		byID("decide"), byID("diff-file")))
	b.do("make the window wide", chromedp.EmulateViewport(1440, 900))
	b.until("document.querySelector('.diff [class^=code-]')") // echo odd
	b.click("side-by-side")
	b.until("document.querySelectorAll('.diff .pair').length > 0 && !document.querySelector('.diff .line > .no + .no')")
	b.click("seen")
	b.see("seen-count", "1 of 2 seen")
	b.do("load it again", chromedp.Reload())
	b.see("seen-count", "1 of 2 seen")
	b.until("document.querySelectorAll('.diff.split').length === 1") // the file that was seen is folded
	b.click("seen")
	b.see("seen-count", "0 of 2 seen")
	b.do("press Ctrl-K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.see("palette", "Pull request #1")
	b.do("name a run", chromedp.KeyEvent("t1-01.1"))
	b.see("palette", "Open t1-01.1")
	b.do("open it", chromedp.KeyEvent(kb.Enter))
	b.see("entry-tool", "odd.txt")
	b.gone("palette")
	if n := evaluate[int](b,
		`[...document.querySelectorAll("[data-testid=entry-assistant]")].filter(e => !e.querySelector(".wrap").innerText.trim()).length`); n > 0 {
		b.t.Errorf("%d turns without words are drawn", n)
	}
}

// taskStatus is the status of a task in the ledger.
func taskStatus(h *testenv.House, task string) string {
	var out struct{ Task struct{ Status string } }
	h.JSON(&out, "show", task)
	return out.Task.Status
}

var _ scripted.Responder = (*staff)(nil)
