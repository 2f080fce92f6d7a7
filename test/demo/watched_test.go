package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// watcher looks at a demo's page from outside, as a browser does.
type watcher struct {
	t     *testing.T
	first string // the link from before the company began
}

// checkWatched: both links of a watched demo open the office that has its run, each once;
// the last lines have the link, and how the office is stopped (UI-2).
func (w *watcher) checkWatched(o Outcome) {
	w.t.Helper()
	if w.first == o.Link {
		w.t.Errorf("there is one link alone: %s", o.Link)
	}
	for _, link := range []string{w.first, o.Link} {
		token := w.enter(link, http.StatusOK)
		var task struct{ Task struct{ Status string } }
		w.ask(link, "GET", "/api/v1/tasks/t1", token, nil, http.StatusOK, &task)
		if task.Task.Status != "completed" {
			w.t.Errorf("t1 is %q on the page of %s", task.Task.Status, link)
		}
		w.enter(link, http.StatusUnauthorized)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	var told bytes.Buffer
	o.StayWatched(ended, &told)
	for _, words := range []string{o.Link, "open)\n", "Ctrl-C stops the office"} {
		if !strings.Contains(told.String(), words) {
			w.t.Errorf("the last lines do not have %q:\n%s", words, told.String())
		}
	}
}

// enter gives the ticket of a link, and gets a token.
func (w *watcher) enter(link string, want int) string {
	w.t.Helper()
	_, ticket, _ := strings.Cut(link, "#t=")
	body, err := json.Marshal(map[string]string{"ticket": ticket})
	if err != nil {
		w.t.Fatal(err)
	}
	var session struct{ Token string }
	w.ask(link, "POST", "/api/v1/session", "", body, want, &session)
	return session.Token
}

// ask sends a request to the office of a link.
func (w *watcher) ask(link, method, path, token string, body []byte, want int, v any) {
	w.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		w.t.Fatal(err)
	}
	u.Path, u.Fragment = path, ""
	req, err := http.NewRequestWithContext(w.t.Context(), method, u.String(), bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(v); err != nil || res.StatusCode != want {
		w.t.Fatalf("%s %s: %d, not %d: %v", method, path, res.StatusCode, want, err)
	}
}

// checkEnded: after the demo nothing listens at its address, and no process of its office
// is left.
func (w *watcher) checkEnded(o Outcome) {
	w.t.Helper()
	u, err := url.Parse(o.Link)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := net.DialTimeout("tcp", u.Host, time.Minute)
	if err == nil {
		_ = c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		w.t.Errorf("something listens at %s still: %v", u.Host, err)
	}
	lines, err := os.ReadDir("/proc")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range lines {
		if dir, err := os.Readlink("/proc/" + p.Name() + "/cwd"); err == nil && strings.HasPrefix(dir, o.Place.Dir) {
			w.t.Errorf("process %s is left in %s", p.Name(), dir)
		}
	}
}
