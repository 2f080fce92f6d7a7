package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	hopRE  = regexp.MustCompile("`([a-z/]+\\.go)`: ([A-Za-z.]+(?:, [A-Za-z.]+)*)")
	pathRE = regexp.MustCompile("`((?:cmd|internal|test|docs|scripts|tools)/[A-Za-z0-9_./-]+)`")
)

// The walkthrough names files and functions that are there.
func TestWalkthroughNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "walkthrough.md"))
	if err != nil {
		t.Fatal(err)
	}
	hops := hopRE.FindAllStringSubmatch(string(text), -1)
	if len(hops) < 30 {
		t.Fatalf("only %d places are named", len(hops))
	}
	for _, hop := range hops {
		file := filepath.Join(root(t), "internal", hop[1])
		if strings.HasPrefix(hop[1], "cmd/") {
			file = filepath.Join(root(t), hop[1])
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", hop[1], err)
			continue
		}
		there := map[string]bool{}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				there[fn.Name.Name] = true
			}
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(hop[2], "."), ", ") {
			_, method, ok := strings.Cut(name, ".")
			if !ok {
				method = name
			}
			if !there[method] {
				t.Errorf("%s has no function %s", hop[1], name)
			}
		}
	}
}

// What the way in names by its path is there.
func TestWayInNamesPathsThatAreThere(t *testing.T) {
	for _, page := range []string{"CONTRIBUTING.md", "docs/glossary.md", "docs/architecture.md", "docs/walkthrough.md"} {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pathRE.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root(t), m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
}
