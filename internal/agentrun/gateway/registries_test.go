package gateway

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
)

// The mirrors answer beside git where a run has them, and nowhere else; they
// never see a request of git's.
func TestRegistries(t *testing.T) {
	var asked []string
	mirrors := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		_, _ = w.Write([]byte("from the mirror"))
	})
	b := setup(t, func(c *Config) { c.Registries = mirrors })
	for _, path := range []string{"/npm/left-pad", "/go/example.com/x/@v/list", "/pypi/simple/six/", "/crates/config.json",
		"/a/-/a-1.0.0.tgz"} {
		if code, text := raw(t, b.addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); code != http.StatusOK ||
			!strings.Contains(text, "from the mirror") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if len(b.events) > 0 {
		t.Errorf("security events: %+v", b.events)
	}
	seen := len(asked)
	for _, path := range []string{"/git/t1-01.2.git/info/refs", "/npmx/y", "/other", "//npm/x"} {
		if code, _ := raw(t, b.addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	gitexectest.Git(t, b.clone, "fetch", "-q", "origin")
	if len(asked) != seen {
		t.Errorf("the mirrors were asked for %q", asked[seen:])
	}
	none := setup(t, nil)
	if code, _ := raw(t, none.addr, "GET /npm/left-pad HTTP/1.1\r\nHost: x\r\n\r\n"); code != http.StatusNotFound {
		t.Errorf("without mirrors: %d", code)
	}
}

// A handler behind the gateway can stream: an event that it flushes arrives while the next one is
// still to come.
func TestEventsArriveApart(t *testing.T) {
	more := make(chan struct{})
	events := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range []string{"data: first\n\n", "data: second\n\n"} {
			if _, err := io.WriteString(w, text); err != nil {
				t.Error(err)
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			select {
			case <-more:
			case <-r.Context().Done():
			}
		}
	})
	b := setup(t, func(c *Config) { c.Registries = events })
	resp, err := http.Get("http://" + b.addr + "/npm/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for _, want := range []string{"data: first", "data: second"} {
		for lines.Scan() && lines.Text() == "" {
		}
		if lines.Text() != want {
			t.Fatalf("%q came, want %q (%v)", lines.Text(), want, lines.Err())
		}
		more <- struct{}{} // the handler has not ended
	}
}
