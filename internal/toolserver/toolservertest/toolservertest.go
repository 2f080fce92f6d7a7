// Package toolservertest starts the real tools in a folder of the test: a
// container's toolbox without the container. It owns the server and the way to
// it, and leaves neither after the test. It prepares no workspace.
package toolservertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/mux/muxtest"
	"company/internal/toolproto"
	"company/internal/toolserver"
)

// Start starts the tools with the workspace dir/repo, and gives a client of
// theirs.
func Start(t testing.TB, dir string) *toolproto.Client {
	t.Helper()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := toolserver.New(toolserver.Config{
		Root: filepath.Join(dir, "repo"), Temp: filepath.Join(dir, "logs"), Grace: time.Second,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c := toolproto.New(muxtest.Serve(t, s.Handler()))
	t.Cleanup(c.Close)
	return c
}
