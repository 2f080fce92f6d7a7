package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The bench of what watching costs needs no Docker.
func TestQuickWatch(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "company")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "company/cmd/company").CombinedOutput(); err != nil {
		t.Fatalf("build company: %v\n%s", err, out)
	}
	r, err := Run(t.Context(), []string{"watch"}, Options{Dir: dir, Quick: true, Program: program, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.RenderText())
	countLines(t, r)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
