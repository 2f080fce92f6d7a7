package background

import (
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office"
)

// TestGoOnMeetsAnotherVersion: an office in the hands of a process that this version cannot
// talk to is an error with what to do, and nothing is started.
func TestGoOnMeetsAnotherVersion(t *testing.T) {
	ent, paths, lock := lockOffice(t)
	defer lock.Release()
	run, err := os.MkdirTemp("", "company-detach-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(run)
	l, err := office.ListenSocket(lock, func(k string) (string, bool) { return run, k == "XDG_RUNTIME_DIR" })
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"title":"another version","status":409,"code":"E_CONFLICT"}`)
		})}
	ended := make(chan struct{})
	go func() { _ = srv.Serve(l); close(ended) }()
	defer func() { _ = srv.Close(); <-ended }()
	if err := GoOn(t.Context(), ent, paths, []string{"resume"}); company.CodeOf(err) != company.EConflict {
		t.Errorf("go on beside another version: %v", err)
	}
}
