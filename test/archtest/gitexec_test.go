package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// personsGit are the files that run the git of the person at the terminal, and why. All
// other git processes are gitexec's (docs/decisions/git.md).
var personsGit = map[string]string{
	"internal/app/persongit.go":           "pr checkout and pr merge act as the person",
	"internal/surface/diagnose/checks.go": "doctor asks for the version of the git on the person's PATH",
}

func TestGitRunsThroughGitexec(t *testing.T) {
	dir, seen := root(t), map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "company/")
		if strings.HasPrefix(name, "test/") || isForTests(name) || name == "internal/gitops/gitexec" {
			continue
		}
		for _, f := range p.GoFiles {
			path := filepath.Join(p.Dir, f)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if rel, _ := filepath.Rel(dir, path); startsGit(file) {
				seen[rel] = true
				if personsGit[rel] == "" {
					t.Errorf("%s starts git: gitexec does", rel)
				}
			}
		}
	}
	for file := range personsGit {
		if !seen[file] {
			t.Errorf("%s starts no git any more: take it off the list", file)
		}
	}
}

// TestGitStartsAreFound is the proof that the rule above can fail.
func TestGitStartsAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		`func f() { exec.Command("git", "log") }`:               true,
		`func f() { exec.CommandContext(ctx, "/usr/bin/git") }`: true,
		`func f() { exec.LookPath("git") }`:                     true,
		`func f() { exec.Command("ssh", "git") }`:               false,
		`func f() { exec.CommandContext(ctx, "ssh-keygen") }`:   false,
		`func f() { other.Command("git") }`:                     false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := startsGit(file); got != want {
			t.Errorf("%s: found %v", text, got)
		}
	}
}

// startsGit reports whether a file looks up or starts a program named git.
func startsGit(file *ast.File) (found bool) {
	at := map[string]int{"Command": 0, "CommandContext": 1, "LookPath": 0}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := fn.X.(*ast.Ident)
		arg, known := at[fn.Sel.Name]
		if !ok || !known || from.Name != "exec" || len(call.Args) <= arg {
			return true
		}
		if text, ok := call.Args[arg].(*ast.BasicLit); ok {
			found = found || filepath.Base(strings.Trim(text.Value, `"`+"`")) == "git"
		}
		return true
	})
	return found
}
