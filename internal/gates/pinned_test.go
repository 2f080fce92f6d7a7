package gates_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gates"
)

// A branch that rewrites its scripts does not rewrite its gate: what runs is
// the base's text, with what npm would run before and after it, and with the
// programs of the folder and of those above.
func TestScriptsArePinned(t *testing.T) {
	p := detect(t, map[string]string{
		"package.json":     `{"workspaces":["web"],"devDependencies":{"vitest":"1","eslint":"9"}}`,
		"web/package.json": `{"scripts":{"pretest":"echo before","test":"CI=1 vitest --dir 'a b'","posttest":"echo after","lint":"eslint ."},"devDependencies":{"vitest":"1"}}`,
	}, gates.Options{})
	if len(p.Gates) != 2 {
		t.Fatalf("%+v", p.Gates)
	}
	// A project in which everything is renamed, with programs that say how
	// they are called.
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("web/package.json", `{"scripts":{"test":"true","lint":"true"}}`)
	write("node_modules/.bin/vitest", "#!/bin/sh\necho \"vitest of the root: $@\"\nexit 5\n")
	write("web/node_modules/.bin/eslint", "#!/bin/sh\necho \"eslint of web: $@\"\nexit 6\n")
	for i, want := range []struct {
		code int
		out  []string
	}{
		{6, []string{"eslint of web: .\n"}},
		{5, []string{"before\n", "vitest of the root: --dir a b --run --passWithNoTests --reporter=default"}},
	} {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", p.Gates[i].Report)
		cmd.Dir = filepath.Join(dir, "web")
		out, _ := cmd.CombinedOutput() // the exit code is looked at
		if cmd.ProcessState.ExitCode() != want.code || strings.Contains(string(out), "after") {
			t.Errorf("%s: exit %d, %s", p.Gates[i].Report, cmd.ProcessState.ExitCode(), out)
		}
		for _, w := range want.out {
			if !strings.Contains(string(out), w) {
				t.Errorf("no %q in\n%s", w, out)
			}
		}
	}
	// What only npm can run is left to it.
	p = detect(t, map[string]string{"package.json": `{"scripts":{"pretest":"echo $npm_package_name","test":"vitest"},"devDependencies":{"vitest":"1"}}`}, gates.Options{})
	if got := p.Gates[0].Report; !strings.HasPrefix(got, "npm test -- --run ") {
		t.Errorf("%s", got)
	}
	p = detect(t, map[string]string{"package.json": `{"scripts":{"pretest":"echo $npm_package_name","test":"node --test"}}`}, gates.Options{})
	if got := p.Gates[0].Report; got != "NODE_OPTIONS=--test-reporter=tap npm test" {
		t.Errorf("%s", got)
	}
}
