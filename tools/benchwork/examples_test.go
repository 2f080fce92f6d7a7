package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExamplesFit: the patches of each case in examples/work apply to its files, and where these
// are a Go module without others, it compiles with them and has the tests that the case names.
// A renaming over the whole repository had once changed paths within the cases.
func TestExamplesFit(t *testing.T) {
	cases, err := ReadCases(filepath.Join("..", "..", "examples", "work"))
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, c := range cases {
		if c.Base.Folder == "" { // a module of others, which a run of the bench fetches
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			tree := filepath.Join(t.TempDir(), "tree")
			if err := os.CopyFS(tree, os.DirFS(c.Base.Folder)); err != nil {
				t.Fatal(err)
			}
			runIn(t, tree, "git", "init", "-q")
			runIn(t, tree, "git", "apply", filepath.Join(c.Dir, HiddenFile))
			runIn(t, tree, "git", "apply", filepath.Join(c.Dir, SolutionFile))
			if !isGoModule(tree) {
				return
			}
			compiled++
			runIn(t, tree, "go", "vet", "./...")
			for _, name := range slices.Concat(c.MustPass, c.MustStay) {
				if !hasTest(t, tree, name) {
					t.Errorf("%s of the case is not there", name)
				}
			}
		})
	}
	if compiled < 4 {
		t.Errorf("%d cases were compiled", compiled)
	}
}

// isGoModule reports whether a folder is a Go module that needs no other one.
func isGoModule(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && !strings.Contains(string(text), "require")
}

// hasTest reports whether a Go module, whose path is example.com/ and one word, has the test of
// a name, which is "package TestName".
func hasTest(t *testing.T, tree, name string) bool {
	t.Helper()
	pkg, test, _ := strings.Cut(name, " ")
	folder := strings.Join(strings.Split(pkg, "/")[2:], "/")
	files, err := filepath.Glob(filepath.Join(tree, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(")
	})
}

// runIn runs a program in a folder without a network, and returns its stdout.
func runIn(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		text := ""
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			text = string(exit.Stderr)
		}
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, text)
	}
	return string(out)
}
