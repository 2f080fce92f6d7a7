package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// TestPreCommitHook: the hook refuses a commit that is not formatted, that vet
// refuses or whose short tests fail, and lets the others pass (TST-8).
func TestPreCommitHook(t *testing.T) {
	hosttest.Long(t, "small modules are built and tested")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const good = "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif !testing.Short() " +
		"{\n\t\tt.Error(\"long\")\n\t}\n}\n"
	for name, c := range map[string]struct {
		file, text string
		passes     bool
	}{
		"short tests":   {file: "x_test.go", text: good, passes: true},
		"no Go":         {file: "README", text: "hello\n", passes: true},
		"of no package": {file: "testdata/x.go", text: "package x\n\nvar X nonsense\n", passes: true},
		"not formatted": {file: "x.go", text: "package x\nvar  X int\n"},
		"vet":           {file: "x.go", text: "package x\n\nfunc X(x int) { x = x }\n"},
		"a red test":    {file: "x_test.go", text: strings.Replace(good, "!testing", "testing", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git := func(args ...string) (string, error) {
				cmd := exec.Command("git", args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
					"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			for path, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", c.file: c.text} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{{"init", "-q"}, {"config", "core.hooksPath", filepath.Join(root, "scripts/hooks")},
				{"add", "-A"}} {
				if out, err := git(args...); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			if out, err := git("commit", "-q", "-m", "x"); (err == nil) != c.passes {
				t.Errorf("the commit passed: %t, want %t\n%s", err == nil, c.passes, out)
			}
		})
	}
}
