package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFetchTriesThreeTimes: set-up asks a registry that fails three times, and then says which one it was.
func TestFetchTriesThreeTimes(t *testing.T) {
	asked, failures := 0, 0
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked <= failures {
			http.Error(w, "one moment", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, `{"Version":"v1.0.0"}`)
	}))
	defer registry.Close()
	fetch := func(program string) (string, error) {
		t.Helper()
		cmd := exec.Command("sh", "-euc", `. ../../scripts/fetch.sh; fetch "a module" `+program+"; echo done")
		cmd.Env = append(os.Environ(), "FETCH_PAUSE=0", "GOPROXY="+registry.URL, "GOMODCACHE="+t.TempDir(), "GOFLAGS=",
			"GONOSUMDB=*", "TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const list = "go list -m example.com/x@v1.0.0"

	failures = 2
	if out, err := fetch(list); err != nil || asked < 3 || !strings.HasSuffix(out, "\ndone\n") {
		t.Errorf("%d requests, %v\n%s", asked, err, out)
	}
	asked, failures = 0, 4
	out, err := fetch(list)
	if err == nil || asked != 3 || strings.Contains(out, "\ndone\n") ||
		!strings.Contains(out, "set-up: FAILED: a module, "+registry.URL+", three times: ") ||
		!strings.Contains(out, "503 Service Unavailable") {
		t.Errorf("%d requests, %v\n%s", asked, err, out)
	}
	out, err = fetch("sh -c 'echo x: no space left on device; exit 1'")
	if err == nil || strings.Count(out, "\n") != 2 ||
		!strings.Contains(out, "the disk is full: x: no space left on device") {
		t.Errorf("%v\n%s", err, out)
	}
}
