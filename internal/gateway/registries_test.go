package gateway

import (
	"company/internal/gitexec/gitexectest"
	"net/http"
	"strings"
	"testing"
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
	for _, path := range []string{"/npm/left-pad", "/go/example.com/x/@v/list", "/pypi/simple/six/", "/crates/config.json", "/a/-/a-1.0.0.tgz"} {
		if code, text := raw(t, b.addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); code != http.StatusOK || !strings.Contains(text, "from the mirror") {
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
