package gitops

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/remotetest"
)

// A remote that will not open later either needs a person: its folder is gone or no repository,
// the server has no such repository, or it refuses the login. One that is away now, or silent,
// does not. A checkout without a remote asks nothing.
func TestRemoteThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	checkout := newCheckout(t, map[string]string{"a": "a\n"})
	cfg := Config{Root: filepath.Join(t.TempDir(), "git")}
	server := remotetest.NewHTTP(t, "", "")
	_, there := server.Repository(t, "acme/app.git", checkout)
	empty := t.TempDir()
	gitexectest.Git(t, checkout, "remote", "add", "origin", there)
	ask := func(url string, limit time.Duration) error {
		gitexectest.Git(t, checkout, "remote", "set-url", "origin", url)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := LastTaskNumber(ctx, cfg, checkout, "")
		return err
	}
	if err := ask(there, time.Minute); err != nil {
		t.Error(err)
	}
	for url, code := range map[string]company.Code{
		filepath.Join(empty, "gone"): company.ENotFound, "file://" + filepath.Join(empty, "gone"): company.ENotFound,
		"file://" + empty:                     company.ENotFound,
		server.Server.URL + "/acme/other.git": company.ENotFound, "http://example.com/plain.git": company.EInvalid,
	} {
		if err := ask(url, time.Minute); company.CodeOf(err) != code || !company.NeedsPerson(err) {
			t.Errorf("%s: %v", url, err)
		}
	}
	server.Refuse(401, 401)
	if err := ask(there, time.Minute); company.CodeOf(err) != company.EAuth || !company.NeedsPerson(err) {
		t.Errorf("a login that is refused: %v", err)
	}
	server.Refuse(503)
	if err := ask(there, time.Minute); err == nil || company.NeedsPerson(err) {
		t.Errorf("a server that is away: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections, and none is read
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if err := ask("http://"+silent.Addr().String()+"/x.git", 300*time.Millisecond); err == nil ||
		company.NeedsPerson(err) {
		t.Errorf("a silent server: %v", err)
	}
	gitexectest.Git(t, checkout, "remote", "remove", "origin")
	if _, err := LastTaskNumber(t.Context(), cfg, checkout, ""); err != nil {
		t.Errorf("no remote: %v", err)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
