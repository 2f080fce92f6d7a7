package bench

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where TestQuickWatch leaves pictures of what the browser showed, and in full the whole bench:
// go test ./internal/bench -run TestQuickWatch -v -args -pictures /tmp -full
var (
	watchPictures = flag.String("pictures", "", "folder for pictures of TestQuickWatch; empty: none")
	watchFull     = flag.Bool("full", false, "TestQuickWatch has the office of 2,000 subtasks")
)

// The bench of what watching costs needs no Docker.
func TestQuickWatch(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "company")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "company/cmd/company").CombinedOutput(); err != nil {
		t.Fatalf("build company: %v\n%s", err, out)
	}
	o := Options{Dir: dir, Quick: !*watchFull, Program: program, Progress: func(s string) { t.Log(s) }}
	if *watchPictures != "" {
		o.seen = func(path string, picture []byte) {
			name := strings.NewReplacer("/", "_", "?", "_", "=", "_").Replace(path) + ".png"
			if err := os.WriteFile(filepath.Join(*watchPictures, name), picture, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	r, err := Run(t.Context(), []string{"watch"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.RenderText())
	countLines(t, r)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
