package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// sharesOurGroup are the files whose programs an interrupt of the terminal ends as well,
// and why. Every other program has a process group of its own: it would end a moment before
// the office knows of the interrupt, which would record a failure.
var sharesOurGroup = map[string]string{
	"internal/app/persongit.go":                "a person waits at the terminal for pr checkout and pr merge",
	"internal/surface/foreground/watch.go":     "a person waits at the terminal for the pr merge that company watch runs",
	"internal/surface/terminalio/browser.go":   "company open waits for it, and no office",
	"internal/surface/terminalio/editor.go":    "an editor needs the terminal, which a group of its own has not",
	"internal/surface/diagnose/checks.go":      "company doctor asks, and no office",
	"internal/surface/diagnose/officecheck.go": "company doctor asks, and no office",
	"internal/gitops/ssh.go":                   "company trust host asks, and no office",
	"internal/upkeep/notify/ways.go":           "a notice that was cut off is not sent again",
	"internal/present/termtext/pager.go":       "a pager needs the terminal",
	"internal/toolbox/toolserver/services.go":  "it runs in the container, which has no terminal",
}

func TestProgramsHaveAProcessGroup(t *testing.T) {
	dir, seen := root(t), map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "company/")
		if strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "tools/") || isForTests(name) {
			// a bench is ended with all that it does
			continue
		}
		for _, f := range p.GoFiles {
			path := filepath.Join(p.Dir, f)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(dir, path)
			for _, fn := range startsInOurGroup(file) {
				seen[rel] = true
				if sharesOurGroup[rel] == "" {
					t.Errorf("%s: %s starts a program in our own process group: gitexec.SeparateGroup gives it another", rel, fn)
				}
			}
		}
	}
	for file := range sharesOurGroup {
		if !seen[file] {
			t.Errorf("%s starts no program in our group any more: take it off the list", file)
		}
	}
}

// TestStartsInOurGroupAreFound is the proof that the rule above can fail.
func TestStartsInOurGroupAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`func f() { exec.Command("a").Run() }`:                                      1,
		`func f() { c := exec.CommandContext(ctx, "a"); g(c) }`:                     1,
		`func f() { c := exec.Command("a"); gitexec.SeparateGroup(c) }`:             0,
		`func f() { c := exec.Command("a"); killGroup(c) }`:                         0,
		`func f() { c := exec.Command("a"); c.SysProcAttr = own }`:                  0,
		`func f() { exec.Command("a") }; func g() { killGroup(exec.Command("b")) }`: 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := startsInOurGroup(file); len(got) != want {
			t.Errorf("%s: found %v", text, got)
		}
	}
}

// startsInOurGroup names the functions that start a program and set nothing of its group.
func startsInOurGroup(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		starts, separate := false, false
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				from, _ := n.X.(*ast.Ident)
				starts = starts || from != nil && from.Name == "exec" && (n.Sel.Name == "Command" || n.Sel.Name == "CommandContext")
				separate = separate || n.Sel.Name == "SysProcAttr" || n.Sel.Name == "SeparateGroup"
			case *ast.Ident:
				separate = separate || n.Name == "killGroup"
			}
			return true
		})
		if starts && !separate {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}
