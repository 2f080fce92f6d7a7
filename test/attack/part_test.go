package attack

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/hosttest"
	"company/test/testenv"
)

// part is a place in the company that a defence hangs on, and what stands there
// when it is taken out.
type part struct{ file, with, without string }

// buildWithout builds the company without these parts.
func buildWithout(t *testing.T, parts ...part) string {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for i, p := range parts {
		path := filepath.Join(root, filepath.FromSlash(p.file))
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(src), p.with); n != 1 {
			t.Fatalf("%s has %q %d times, not once: name the place of the defence anew", p.file, p.with, n)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(src), p.with, p.without, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	hosttest.NeedsDocker(t) // the parts are where the test says; to build and attack takes a daemon
	bin := filepath.Join(dir, "company")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, "./cmd/company")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build company without a part: %v\n%s", err, out)
	}
	return bin
}
