package toolserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// A fresh clone is made ready by the image's script, in its root; one that
// fails says why, and the workspace is not taken for prepared.
func TestPrepareMakesTheCloneReady(t *testing.T) {
	origin, base := newOrigin(t)
	script := filepath.Join(t.TempDir(), "ready")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("mkdir node_modules && echo x >node_modules/x && echo /node_modules >>.git/info/exclude\n")
	b := newBench(t, func(c *Config) { c.Ready = script })
	b.prepare(t, origin, base)
	if b.content(t, "node_modules/x") != "x\n" {
		t.Error("the script did not run in the clone")
	}
	if s := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context())); !s.Clean {
		t.Errorf("git sees what was linked: %+v", s)
	}

	write("echo this is why; exit 9\n")
	bad := newBench(t, func(c *Config) { c.Ready = script })
	_, err := bad.Prepare(t.Context(),
		toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: branch, AuthorName: "a", AuthorEmail: "b"})
	if err == nil || !strings.Contains(err.Error(), "this is why") {
		t.Errorf("error %v", err)
	}
	_, err = bad.GitStatus(t.Context())
	requireRefusal(t, err, toolproto.KindGit, "not prepared")
}
