package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hostShells are the files that give a text of the operator's own to a shell of the host, as git
// does with the same texts.
var hostShells = map[string]string{
	"company/internal/present/termtext/pager.go":    "$PAGER",
	"company/internal/surface/terminalio/editor.go": "$EDITOR, $VISUAL",
	"company/internal/gitops/gitlogin/ssh.go":       "core.sshCommand",
}

// The host starts programs by their arguments (PRC-4): a text that a shell reads is a place
// where a name of a file or a word of a model becomes a command.
func TestHostStartsProgramsWithoutAShell(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "company/test/") {
			continue
		}
		for _, f := range p.GoFiles {
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for at := range findShellStarts(tree) {
				file := p.ImportPath + "/" + f
				if used[file] = true; hostShells[file] == "" {
					t.Errorf("%s:%d starts a program through a shell: give its arguments", file, set.Position(at).Line)
				}
			}
		}
	}
	for name := range hostShells {
		if !used[name] {
			t.Errorf("%s starts no shell any more: take it off the list", name)
		}
	}
}

// findShellStarts lists the calls of os/exec that have a shell or a -c among their words.
func findShellStarts(tree *ast.File) map[token.Pos]bool {
	found := map[token.Pos]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Command", "CommandContext"}, fn.Sel.Name) {
			return true
		}
		if of, ok := fn.X.(*ast.Ident); !ok || of.Name != "exec" {
			return true
		}
		ast.Inspect(call, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			word, err := strconv.Unquote(lit.Value)
			if err == nil && (word == "-c" ||
				slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, word[strings.LastIndex(word, "/")+1:])) {
				found[call.Pos()] = true
			}
			return true
		})
		return true
	})
	return found
}
