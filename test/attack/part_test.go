package attack

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/test/testenv"
)

// part is a place in the company that a defence hangs on, and what stands there
// when it is taken out.
type part struct{ file, with, without string }

// takeOut finds these parts, and gives an overlay of the sources without them.
func takeOut(t *testing.T, parts ...part) (overlay string) {
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
			t.Fatalf("%s has %q %d times, not once: name the place of the defence again", p.file, p.with, n)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(src), p.with, p.without, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay = filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return overlay
}

// buildWith builds the company with an overlay of its sources.
func buildWith(t *testing.T, overlay string) string {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "company")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", bin, "./cmd/company")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build company without a part: %v\n%s", err, out)
	}
	return bin
}
