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

var symbolRE = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z]*)(?:\\.([A-Z][A-Za-z]*))?`")

// What the glossary names in the code is declared there.
func TestGlossaryNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	symbols := symbolRE.FindAllStringSubmatch(string(text), -1)
	if len(symbols) < 20 {
		t.Fatalf("only %d names of the code are in the glossary", len(symbols))
	}
	for _, s := range symbols {
		files, err := filepath.Glob(filepath.Join(root(t), "internal", s[1], "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					there[n.Name.Name] = true
					return false
				case *ast.TypeSpec:
					there[n.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range n.Names {
						there[name.Name] = true
					}
				}
				return true
			})
		}
		for _, name := range s[2:] {
			if name != "" && !there[name] {
				t.Errorf("%s: package %s declares no %s", s[0], s[1], name)
			}
		}
	}
}
