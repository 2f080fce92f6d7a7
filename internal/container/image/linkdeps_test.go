package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newPreparedDeps is a directory as dependency layers leave it, and the script that
// links from it.
func newPreparedDeps(t *testing.T) (deps, script string) {
	t.Helper()
	deps = filepath.Join(t.TempDir(), "deps dir")
	for name, text := range map[string]string{
		"npm.dirs":                      "\nweb/\nodd dir/\ngone/\n",
		"npm/node_modules/a/index.js":   "a",
		"npm/node_modules/-dash/x":      "x",
		"npm/node_modules/@s/b/b.js":    "b",
		"npm/node_modules/.bin/tool":    "t",
		"npm/web/node_modules/c/c.js":   "c",
		"npm/odd dir/node_modules/d/d":  "d",
		"npm/gone/node_modules/e/e":     "e",
		"npm/node_modules/.hidden.json": "{}",
		"cargo.locks":                   "Cargo.lock\nweb/Cargo.lock\ngone/Cargo.lock\nhas/Cargo.lock\n",
		"cargo/Cargo.lock":              "made",
		"cargo/web/Cargo.lock":          "made",
		"cargo/gone/Cargo.lock":         "made",
		"cargo/has/Cargo.lock":          "made",
		"cargo.toml":                    "[net]\noffline = true\n",
	} {
		writeTo(t, filepath.Join(deps, name), text)
	}
	if err := os.MkdirAll(filepath.Join(deps, "npm/node_modules/@empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	return deps, strings.ReplaceAll(buildLinkDepsScript(), "/opt/deps", "'"+deps+"'")
}

func writeTo(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runReady(t *testing.T, script, dir, home string) string {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The script links what the tree asks for, leaves alone what it has, hides all
// of it from git, and may run twice.
func TestLinkDepsScript(t *testing.T) {
	_, script := newPreparedDeps(t)
	p := newProject(t)
	p.commit(
		map[string]string{"package.json": "{}", "web/package.json": "{}", "odd dir/package.json": "{}", "m.py": "",
			"has/Cargo.lock": "its own"})
	home := t.TempDir()
	for range 2 {
		if out := runReady(t, script, p.dir, home); out != "" {
			t.Errorf("it said %q", out)
		}
	}
	for _, name := range []string{"node_modules/a/index.js", "node_modules/-dash/x", "node_modules/@s/b/b.js",
		"node_modules/.bin/tool", "web/node_modules/c/c.js", "odd dir/node_modules/d/d"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"gone", "node_modules/.hidden.json"} {
		if _, err := os.Lstat(filepath.Join(p.dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if info, err := os.Lstat(filepath.Join(p.dir, "node_modules")); err != nil || !info.IsDir() {
		t.Errorf("node_modules is not a directory of the tree's own: %v", err)
	}
	writeTo(t, filepath.Join(p.dir, "node_modules/.vite/cache"), "written by a tool")
	writeTo(t, filepath.Join(p.dir, "__pycache__/m.pyc"), "x")
	if got := p.git("status", "--porcelain"); got != "" {
		t.Errorf("git sees %q", got)
	}
	for name, want := range map[string]string{"Cargo.lock": "made", "web/Cargo.lock": "made",
		"has/Cargo.lock": "its own"} {
		if text, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	exclude, err := os.ReadFile(filepath.Join(p.dir, ".git/info/exclude"))
	if err != nil || strings.Count(string(exclude), "\nnode_modules\n") != 1 {
		t.Errorf("exclude %q, error %v", exclude, err)
	}
	if text, err := os.ReadFile(filepath.Join(home, ".cargo/config.toml")); err != nil ||
		!strings.Contains(string(text), "offline") {
		t.Errorf("cargo's settings %q, error %v", text, err)
	}
}

// Trees that stand in the way: the script leaves them as they are and goes on.
func TestLinkDepsOnOddTrees(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"tracked": func(t *testing.T, dir string) { writeTo(t, filepath.Join(dir, "node_modules/own/x"), "own") },
		"a file":  func(t *testing.T, dir string) { writeTo(t, filepath.Join(dir, "node_modules"), "a file") },
		"a dangling link": func(t *testing.T, dir string) {
			if err := os.Symlink("/nowhere/at/all", filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, script := newPreparedDeps(t)
			dir := t.TempDir()
			writeTo(t, filepath.Join(dir, "package.json"), "{}")
			writeTo(t, filepath.Join(dir, "web/package.json"), "{}")
			make(t, dir)
			before, err := os.Lstat(filepath.Join(dir, "node_modules"))
			if err != nil {
				t.Fatal(err)
			}
			runReady(t, script, dir, t.TempDir())
			after, err := os.Lstat(filepath.Join(dir, "node_modules"))
			if err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("node_modules was touched: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "web/node_modules/c/c.js")); err != nil {
				t.Errorf("it did not go on: %v", err)
			}
		})
	}
}
