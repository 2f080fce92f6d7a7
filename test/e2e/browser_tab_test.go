package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"company/internal/lib/hosttest"
)

// tab is a tab of a headless browser. It keeps what went wrong in it, and whom it asked.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	errors   []string // of the console, of scripts and of the policy of the page
	requests []string // addresses
	held     int      // requests
}

// startBrowser starts Chromium with a profile of its own. It ends with the test, with all of
// its processes.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no chromium in PATH: scripts/setup.sh test installs Debian's")
	}
	profile := t.TempDir()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(profile), chromedp.WindowSize(1440, 900),
		chromedp.WSURLReadTimeout(patience),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		}))
	all, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(func() {
		end()
		endAll()
		waitFor(t, func() bool { return len(processesNaming(profile)) == 0 }, func() string {
			left := processesNaming(profile)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return fmt.Sprintf("processes of the browser are left: %v", left)
		})
	})
	if err := chromedp.Do(ctx); err != nil { // one browser, which the tabs share
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}

// processesNaming lists the processes whose command line names a text.
func processesNaming(text string) (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range lines {
		var pid int
		line, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) || !strings.Contains(string(line), text) {
			continue
		}
		if _, err := fmt.Sscanf(p, "/proc/%d/cmdline", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// openTab opens a tab. options tell whether it shares the profile.
func openTab(browser context.Context, t *testing.T, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, options...)
	t.Cleanup(end)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatalf("a tab does not open: %v", err)
	}
	return b
}

func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			b.errors = append(b.errors, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, fmt.Sprintf("exception: %s", e.ExceptionDetails.Text))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			b.errors = append(b.errors, fmt.Sprintf("console: %v", e.Args))
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *fetch.EventRequestPaused:
		b.held++
	}
}

// takeErrors gives the errors so far, and forgets them.
func (b *tab) takeErrors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.errors
	b.errors = nil
	return all
}

// noErrors fails the test where the tab had errors.
func (b *tab) noErrors(when string) {
	b.t.Helper()
	if all := b.takeErrors(); len(all) > 0 {
		b.t.Errorf("errors in the browser %s:\n%s", when, strings.Join(all, "\n"))
	}
}

// askedOnly fails the test where the tab asked another address than those that begin so.
func (b *tab) askedOnly(base string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, base) && !strings.HasPrefix(r, "data:") {
			b.t.Errorf("the page asked %s", r)
		}
	}
}

// do does steps within a minute.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v\nerrors: %v\nthe page shows:\n%s", what, err, b.takeErrors(), b.text())
	}
}

// text is what the page shows.
func (b *tab) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.pathname+'\\n'+document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// until waits until an expression of JavaScript is true in the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	b.do("wait for "+expression, func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		var err error
		state, ok := hosttest.WaitUntil(func() (any, bool) {
			var ok bool
			ok, err = chromedp.Evaluate[bool]("!!("+expression+")")(ctx, t)
			return err, ok || ctx.Err() != nil
		})
		if !ok || ctx.Err() != nil {
			return chromedp.Void{}, fmt.Errorf("it does not come true: %v: %w", state, ctx.Err())
		}
		return chromedp.Void{}, nil
	})
}

// byID is the selector of a test id.
func byID(id string) string { return "[data-testid='" + id + "']" }

// see waits until something with a test id is there, and has words.
func (b *tab) see(id, words string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.querySelector(%q)?.innerText.includes(%q)", byID(id), words))
}

// gone waits until nothing with a test id is there.
func (b *tab) gone(id string) {
	b.t.Helper()
	b.until(fmt.Sprintf("!document.querySelector(%q)", byID(id)))
}

// click clicks something with a test id, once it lies still: the page takes no press of a
// button that has just moved.
func (b *tab) click(id string) {
	b.t.Helper()
	b.settle(byID(id))
	b.do("click "+id, chromedp.Click(chromedp.CSS(byID(id))))
}

// settle waits until an element lies still.
func (b *tab) settle(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q), kept = globalThis.settling ??= {};
		const at = e && JSON.stringify([e.getBoundingClientRect(), e.textContent]);
		if (!at || kept.at !== at) { kept.at = at; kept.since = performance.now(); return false; }
		return performance.now() - kept.since > 400;
	})()`, selector))
}

// missMoving presses a button with the mouse, and has the page move it a moment before, as data
// that comes late does: nothing is pressed, and the page says so.
func (b *tab) missMoving(id string) {
	b.t.Helper()
	b.settle(byID(id))
	evaluate[bool](b, `(() => {
		addEventListener("pointerdown", () => { document.getElementById("main").style.paddingTop = "26px"; }, { capture: true, once: true });
		return true;
	})()`)
	b.do("press "+id, chromedp.Click(chromedp.CSS(byID(id))))
	b.see("notices", "that button had just moved")
}

// enter types into a field.
func (b *tab) enter(selector, text string) {
	b.t.Helper()
	b.do("type into "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// open goes to an address.
func (b *tab) open(url string) {
	b.t.Helper()
	b.do("open "+url, chromedp.Navigate(url))
}

// holdRequests keeps requests whose address fits a pattern (* is any text) from leaving the
// browser, until releaseRequests.
func (b *tab) holdRequests(pattern string) {
	b.t.Helper()
	b.mu.Lock()
	b.held = 0
	b.mu.Unlock()
	b.do("hold "+pattern, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: pattern}}})
		return err
	}))
}

// releaseRequests waits for a held request, lets all of them go, and holds no more.
func (b *tab) releaseRequests() {
	b.t.Helper()
	waitFor(b.t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.held > 0
	}, func() string { return "the page asks for nothing that is held" })
	b.do("let requests go", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, fetch.Disable, cdp.Empty{})
		return err
	}))
}

// line is a connection to a server that a test cuts and mends.
type line struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

// startLine listens beside a server, and passes on what comes.
func startLine(t *testing.T, listener net.Listener, to string) *line {
	l := &line{listener: listener, to: to, open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
		all.Wait()
	})
	return l
}

func (l *line) pass(c net.Conn) {
	s, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = c.Close()
		return
	}
	l.mu.Lock()
	l.open[c], l.open[s] = true, true
	isCut := l.isCut
	l.mu.Unlock()
	end := func() {
		_, _ = c.Close(), s.Close()
		l.mu.Lock()
		delete(l.open, c)
		delete(l.open, s)
		l.mu.Unlock()
	}
	if isCut {
		end()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(s, c); end() })
	both.Go(func() { _, _ = io.Copy(c, s); end() })
	both.Wait()
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for c := range l.open {
		_ = c.Close()
	}
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}
