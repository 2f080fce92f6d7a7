package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"company/internal/company"
	"company/internal/lib/secret"
	"company/internal/present/feed"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

func item(seq uint64, task company.TaskID, kind string, mark feed.Mark, text string) feed.Item {
	return feed.Item{Seq: seq, Task: task, Kind: kind, Mark: mark, Text: text}
}

// TestWhatIsWorthANotice: questions, failures and pull requests are; what the president did,
// and what happens in between, is not.
func TestWhatIsWorthANotice(t *testing.T) {
	for _, c := range []struct {
		it   feed.Item
		want Kind
	}{
		{item(1, "t1", "approval.opened", feed.Needs, "a1: may it?"), Question},
		{item(2, "t1", "budget.exhausted", feed.Needs, "the budget is used up"), Question},
		{item(3, "t1", "task.failed", feed.Failed, "failed: no"), Failure},
		{item(4, "t1", "pr.opened", feed.Done, "pull request #1"), Pull},
		{item(5, "", "office.damaged", feed.Needs, "a matter"), Office},
		{item(6, "", "office.stopped", feed.Needs, "stopped"), ""},
		{item(7, "t1", "task.cancelled", feed.Failed, "cancelled by you"), ""},
		{item(8, "t1", "gate.finished", feed.Failed, "red"), ""},
		{item(0, "t1", "tool", feed.Needs, "between two events"), ""},
	} {
		if n, ok := noticeOf(c.it); ok != (c.want != "") || n.Kind != c.want {
			t.Errorf("%s: %q, %v", c.it.Kind, n.Kind, ok)
		}
	}
	hostile := item(1, "t1", "approval.opened", feed.Needs, "a\x1b]0;x\a\u202eb\nc"+strings.Repeat("x", 2000))
	if n, _ := noticeOf(hostile); strings.ContainsAny(n.Text, "\x1b\a\n\u202e") || len(n.Text) > 2*maxText {
		t.Errorf("%q", n.Text)
	}
}

// TestGathering: what comes together is one message, one a minute, and what was answered
// meanwhile is in none.
func TestGathering(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var g gatherer
	if _, ok := g.nextDue(); ok {
		t.Error("something is due of nothing")
	}
	g.takeItem(item(1, "t1", "approval.opened", feed.Needs, "a1: may it?"), at)
	g.takeItem(item(2, "t2", "approval.opened", feed.Needs, "a2: and this?"), at.Add(time.Second))
	g.takeItem(item(3, "t3", "task.failed", feed.Failed, "failed: no"), at.Add(time.Second))
	g.takeItem(item(4, "t2", "approval.answered", feed.Info, "yes"), at.Add(time.Second))
	due, ok := g.nextDue()
	if !ok || due != at.Add(settleTime) {
		t.Errorf("due at %v, %v", due, ok)
	}
	m := newMessage(g.takePending(due), "http://x")
	if m.Title != "company: 1 question, 1 failure" || m.Body != "t1 a1: may it?\nt3 failed: no" || m.Link != "http://x" {
		t.Errorf("%+v", m)
	}
	g.takeItem(item(5, "t1", "pr.opened", feed.Done, "pull request #1"), due.Add(time.Second))
	if next, _ := g.nextDue(); next != due.Add(restTime) {
		t.Errorf("the next is due at %v", next)
	}
	if m := newMessage(g.pending, ""); m.Title != "company: t1 has a pull request" {
		t.Errorf("%q", m.Title)
	}
	g.takeItem(item(6, "t1", "pr.settled", feed.Done, "merged"), due)
	if _, ok := g.nextDue(); ok {
		t.Error("a settled pull request is told")
	}
	for i := range uint64(3 * maxPending) {
		g.takeItem(item(10+i, "t1", "task.failed", feed.Failed, "failed"), due)
	}
	if len(g.pending) != maxPending || g.pending[0].Seq != 10+2*maxPending {
		t.Errorf("%d are pending, from %d", len(g.pending), g.pending[0].Seq)
	}
}

// recorder is a way that keeps messages. With err it fails, with hang it hangs until ctx ends.
type recorder struct {
	name string
	err  error
	hang bool

	mu  sync.Mutex
	got []Message
}

func (r *recorder) Name() string { return r.name }

func (r *recorder) Deliver(ctx context.Context, m Message) error {
	if r.hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, m)
	return r.err
}

// lines is a feed whose lines a test sends.
type lines chan feed.Item

func (l lines) FollowNew(ctx context.Context, fn func(feed.Item) error) error {
	for {
		select {
		case it := <-l:
			if err := fn(it); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// TestAWayThatFailsHoldsUpNoOther: each way gets each message; one that fails is reported
// once, and one that hangs is ended and holds up neither the feed nor the others.
func TestAWayThatFailsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad, stuck := &recorder{name: "good"}, &recorder{name: "bad", err: errors.New("no")},
			&recorder{name: "stuck", hang: true}
		items := make(chan feed.Item)
		var mu sync.Mutex
		reports := map[string]int{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- Loop{
				Ways: []Way{good, bad, stuck}, Link: func() string { return "http://link" },
				Feed: lines(items),
				Report: func(way string, _ error) {
					mu.Lock()
					defer mu.Unlock()
					reports[way]++
				},
			}.Run(ctx)
		}()
		for i := range uint64(3) {
			items <- item(1+2*i, "t1", "approval.opened", feed.Needs, "a1: may it?")
			items <- item(2+2*i, "t2", "task.failed", feed.Failed, "failed")
			time.Sleep(2 * restTime)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(good.got) != 3 || len(bad.got) != 3 || len(good.got[0].Notices) != 2 || good.got[0].Link != "http://link" {
			t.Errorf("%d and %d messages: %+v", len(good.got), len(bad.got), good.got)
		}
		if reports["bad"] != 1 || reports["stuck"] != 1 || reports["good"] != 0 {
			t.Errorf("%v", reports)
		}
	})
}

// TestWebhook: the body is signed with its time, a failed delivery is repeated under the same
// id, a redirect is not followed, and a refusal is not repeated.
func TestWebhook(t *testing.T) {
	key := secret.New("k")
	var mu sync.Mutex
	answers, ids, calls := []int{503, 200}, map[string]bool{}, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get(SignatureHeader) != Sign(key, r.Header.Get(TimestampHeader), body) {
			t.Errorf("%v: the signature is wrong", err)
		}
		ids[r.Header.Get(DeliveryHeader)] = true
		var m struct {
			Version int `json:"schema_version"`
			Title   string
		}
		if err := json.Unmarshal(body, &m); err != nil || m.Version != 1 || m.Title == "" {
			t.Errorf("%v: %s", err, body)
		}
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(answers[0])
		if len(answers) > 1 {
			answers = answers[1:]
		}
	}))
	defer s.Close()
	hook := Webhook{URL: s.URL, Secret: key, firstWait: time.Millisecond}
	m := newMessage([]Notice{{Kind: Question, Task: "t1", Text: "may it?"}}, "")
	if err := hook.Deliver(t.Context(), m); err != nil || calls != 2 || len(ids) != 1 {
		t.Errorf("%v after %d calls with %d ids", err, calls, len(ids))
	}
	for _, status := range []int{302, 403} {
		answers, calls = []int{status}, 0
		if err := hook.Deliver(t.Context(), m); err == nil || calls != 1 {
			t.Errorf("%d: %v after %d calls", status, err, calls)
		}
	}
	if Sign(key, "1", []byte("a")) == Sign(key, "2", []byte("a")) ||
		Sign(key, "1", []byte("a")) == Sign(secret.New("j"), "1", []byte("a")) {
		t.Error("the signature does not hold the time or the key")
	}
	hook.URL = "http://user:geheim@127.0.0.1:1/"
	if err := hook.Deliver(t.Context(), m); err == nil ||
		strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
}

// TestDesktop: the texts of others are arguments of the program, and no markup.
func TestDesktop(t *testing.T) {
	m := newMessage([]Notice{{Kind: Question, Task: "t1", Text: `--help <b>&"x"`}}, "http://l")
	argv := desktopCommand("linux", m)
	if argv[2] != "--" || argv[4] != "t1 --help &lt;b&gt;&amp;\"x\"\nsee it with: company open" {
		t.Errorf("%q", argv)
	}
	// notify-send reads escapes in a body: \074 is its way to write <, and \377 is not text at all.
	tricky := newMessage([]Notice{{Kind: Question, Task: "t1", Text: `\074a href="x"\076 \377 a\nb`}}, "")
	if body := desktopCommand("linux", tricky)[4]; body != `t1 \\074a href="x"\\076 \\377 a\\nb` {
		t.Errorf("an escape of the text is one of notify-send's: %s", body)
	}
	if argv := desktopCommand("darwin", m); !strings.Contains(argv[2], `\"x\"`) || strings.Contains(argv[2], "\n") {
		t.Errorf("%q", argv)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$OUT\"\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out := filepath.Join(dir, "out")
	if err := (Desktop{Environ: append(os.Environ(), "OUT="+out)}).Deliver(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || !strings.Contains(string(got), "company: t1 asks") {
		t.Errorf("%v: %s", err, got)
	}
	t.Setenv("PATH", t.TempDir())
	if err := (Desktop{}).Deliver(t.Context(), m); err == nil || !strings.Contains(err.Error(), "libnotify-bin") {
		t.Errorf("%v", err)
	}
}

// TestBell rings once for a message.
func TestBell(t *testing.T) {
	var b bytes.Buffer
	if err := (Bell{&b}).Deliver(t.Context(), Message{}); err != nil || b.String() != "\a" {
		t.Errorf("%v: %q", err, b.String())
	}
}
