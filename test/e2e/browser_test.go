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

	"company/internal/adapters/scripted"
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
	waitFor(t, func() bool { return strings.Contains(out.String(), "/#t=") && strings.HasSuffix(out.String(), "\n") }, func() string { return "no link:\n" + out.String() + errs.String() })
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
// the page anew, opens a second tab, cancels another task, and sees the pull request. Text
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
	b.do("load it anew", chromedp.Reload())
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
	b.noErrors("at the end")

	checkHostileText(b, base)
	checkAccessible(b, base)
	checkStrangePage(browser, t, b, base)
	for _, x := range []*tab{b, two, stranger} {
		x.askedOnly(base)
	}
}

// taskStatus is the status of a task in the ledger.
func taskStatus(h *testenv.House, task string) string {
	var out struct{ Task struct{ Status string } }
	h.JSON(&out, "show", task)
	return out.Task.Status
}

var _ scripted.Responder = (*staff)(nil)
