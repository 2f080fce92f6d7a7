// Package toolservertest starts the real toolbox in a folder of the test, without a container. It stops the server and
// closes the connection at the end of the test. It does not prepare a workspace.
package toolservertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/toolbox/mux/muxtest"
	"company/internal/toolbox/toolproto"
	"company/internal/toolbox/toolserver"
)

// Start starts the toolbox with the workspace dir/repo, and returns a client for it.
func Start(t testing.TB, dir string) *toolproto.Client {
	t.Helper()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	server, err := toolserver.New(toolserver.Config{
		Root: filepath.Join(dir, "repo"), Temp: filepath.Join(dir, "logs"), Grace: time.Second,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	client := toolproto.New(muxtest.Serve(t, server.Handler()))
	t.Cleanup(client.Close)
	return client
}
