package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
)

// chromium is a headless browser that is driven over a pair of pipes, by its DevTools
// protocol: messages of JSON, each with a zero byte behind it. chromedp would have the browser
// report the DOM, the styles and the network of each tab, which is work that no person's browser does.
//
// https://chromedevtools.github.io/devtools-protocol/
type chromium struct {
	cmd     *exec.Cmd
	profile string
	in      *os.File // to it
	out     *os.File // from it
	reading sync.WaitGroup

	mu      sync.Mutex
	next    int
	waiting map[int]chan cdpReply // nil: it has ended
}

// cdpReply is the answer to a message.
type cdpReply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// findChromium finds the browser; empty: there is none.
func findChromium() string {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return ""
	}
	return program
}

// startChromium starts a browser with a profile of its own in a folder.
func startChromium(ctx context.Context, program, profile string) (b *chromium, err error) {
	b = &chromium{profile: profile, waiting: map[int]chan cdpReply{}}
	toRead, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, toWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, toRead.Close(), in.Close())
	}
	b.in, b.out = in, out
	b.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, "--headless", "--remote-debugging-pipe",
		"--no-sandbox", "--user-data-dir="+profile,
		"--window-size=1440,900", "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
		"--disable-component-update", "--disable-sync",
		"--disable-extensions", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio", "about:blank")
	b.cmd.ExtraFiles = []*os.File{toRead, toWrite} // its 3 and 4
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = b.cmd.Start()
	err = errors.Join(err, toRead.Close(), toWrite.Close())
	if err != nil {
		return nil, errors.Join(company.E(company.EConfig, "the browser does not start").Wrap(err), in.Close(), out.Close())
	}
	b.reading.Go(b.readReplies)
	return b, nil
}

// readReplies passes answers on until the browser ends. Events are of no interest.
func (b *chromium) readReplies() {
	r := bufio.NewReaderSize(b.out, 64<<10)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var reply cdpReply
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &reply) != nil || reply.ID == 0 {
			continue
		}
		b.mu.Lock()
		if waits := b.waiting[reply.ID]; waits != nil {
			waits <- reply
			delete(b.waiting, reply.ID)
		}
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, waits := range b.waiting {
		close(waits)
	}
	b.waiting = nil
}

// browserPatience bounds each step of a browser.
const browserPatience = time.Minute

// callMethod sends a message, to a tab where session names one, and reads its answer into result.
func (b *chromium) callMethod(ctx context.Context, session, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, browserPatience)
	defer cancel()
	b.mu.Lock()
	if b.waiting == nil {
		b.mu.Unlock()
		return company.E(company.EInternal, "the browser has ended")
	}
	b.next++
	answer := make(chan cdpReply, 1)
	b.waiting[b.next] = answer
	text, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{b.next, session, method, params})
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case reply, ok := <-answer:
		switch {
		case !ok:
			return company.E(company.EInternal, "the browser has ended")
		case reply.Error != nil:
			return company.E(company.EInternal, "the browser does not do "+method).Because(reply.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(reply.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// close ends the browser, all of its processes, and its profile.
func (b *chromium) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = b.callMethod(ctx, "", "Browser.close", nil, nil) // it may be gone, or is ended below
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.cmd.Wait() // it may have been killed
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // of its group, those that outlive it
	_ = b.in.Close()
	b.reading.Wait()
	_ = b.out.Close()
	// Its processes write into the profile until they have ended.
	return retry.Until(ctx, retry.Every(50*time.Millisecond),
		func() (bool, error) { return os.RemoveAll(b.profile) == nil, nil })
}

// tab is a tab of a browser, without a past: nothing is in its cache.
type tab struct {
	browser          *chromium
	session          string
	target, separate string // of the browser's own names
}

// openTab opens one. script runs in each page before those of the page.
func (b *chromium) openTab(ctx context.Context, script string) (*tab, error) {
	var separate struct {
		ID string `json:"browserContextId"`
	}
	var target struct {
		ID string `json:"targetId"`
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	type object map[string]any
	if err := b.callMethod(ctx, "", "Target.createBrowserContext", object{}, &separate); err != nil {
		return nil, err
	}
	if err := b.callMethod(ctx, "", "Target.createTarget",
		object{"url": "about:blank", "browserContextId": separate.ID, "width": 1440, "height": 900}, &target); err != nil {
		return nil, err
	}
	if err := b.callMethod(ctx, "", "Target.attachToTarget", object{"targetId": target.ID, "flatten": true},
		&session); err != nil {
		return nil, err
	}
	t := &tab{browser: b, session: session.ID, target: target.ID, separate: separate.ID}
	for _, step := range []struct {
		method string
		params object
	}{{"Page.enable", nil}, {"Page.addScriptToEvaluateOnNewDocument", object{"source": script}}} {
		if err := b.callMethod(ctx, t.session, step.method, step.params, nil); err != nil {
			return nil, errors.Join(err, t.close(ctx))
		}
	}
	return t, nil
}

func (t *tab) close(ctx context.Context) error {
	return t.browser.callMethod(ctx, "", "Target.disposeBrowserContext",
		map[string]any{"browserContextId": t.separate}, nil)
}

// open goes to an address.
func (t *tab) open(ctx context.Context, url string) error {
	return t.browser.callMethod(ctx, t.session, "Page.navigate", map[string]any{"url": url}, nil)
}

// evaluateScript reads the value of an expression of JavaScript, which may be a promise.
func (t *tab) evaluateScript(ctx context.Context, expression string, value any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := t.browser.callMethod(
		ctx, t.session, "Runtime.evaluate",
		map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer); err != nil {
		return err
	}
	if answer.Exception != nil {
		return company.E(company.EInternal, "a script of the bench fails in the page").
			Because(answer.Exception.Text + " " + answer.Exception.Exception.Description)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, value)
}

// awaitTrue waits until an expression is true.
func (t *tab) awaitTrue(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, browserPatience)
	defer cancel()
	var failed error // of the last look: a page that is being left has no answer
	err := retry.Until(ctx, retry.Every(20*time.Millisecond), func() (ok bool, _ error) {
		failed = t.evaluateScript(ctx, "!!("+expression+")", &ok)
		return ok, nil
	})
	if err != nil {
		var text string
		err = errors.Join(err, failed,
			t.evaluateScript(context.WithoutCancel(ctx),
				"location.pathname + '\\n' + document.body.innerText.slice(0, 2000)", &text))
		return company.E(company.EInternal, "the page does not come to "+expression).Because(text).Wrap(err)
	}
	return nil
}

// takePicture is what the tab shows, as PNG.
func (t *tab) takePicture(ctx context.Context) ([]byte, error) {
	var picture struct {
		Data string `json:"data"`
	}
	if err := t.browser.callMethod(
		ctx, t.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &picture); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(picture.Data)
}
