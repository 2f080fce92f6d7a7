package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"company/test/goname"
)

var (
	linkRE = regexp.MustCompile(`\]\(([A-Za-z0-9_./-]+)(?:#[a-z0-9-]*)?\)`)
	pathRE = regexp.MustCompile("`((?:cmd|internal|test|docs|scripts|tools)/[A-Za-z0-9_./-]+)`")
)

// What the way in names by its path is there.
func TestWayInNamesPathsThatAreThere(t *testing.T) {
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "docs/glossary.md", "docs/architecture.md",
		"docs/walkthrough.md"} {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkRE.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root(t), filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
		for _, m := range pathRE.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root(t), m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
}

var testNameRE = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)

// A page that names the test which shows something names one that is there.
func TestDocsNameTestsThatAreThere(t *testing.T) {
	declared := map[string]bool{}
	for _, text := range trackedFiles(t, "_test.go") {
		for _, m := range testFuncRE.FindAllStringSubmatch(text, -1) {
			declared[m[1]] = true
		}
	}
	for _, page := range []string{"docs/requirements.md", "docs/threats.md"} {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		named := testNameRE.FindAllString(string(text), -1)
		if len(named) < 50 {
			t.Errorf("only %d tests are named in %s", len(named), page)
		}
		for _, name := range named {
			if !declared[name] {
				t.Errorf("%s names %s, which is not there", page, name)
			}
		}
	}
}

var testFuncRE = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)

var identifierRE = regexp.MustCompile("`(?:([a-z]+)\\.)?([A-Za-z]*[A-Z][A-Za-z]*)(?:\\.([A-Z][A-Za-z]*))?`")

// notOurs are names in CONTRIBUTING that this code does not declare.
var notOurs = strings.Fields("Short Long Example runName")

// What CONTRIBUTING names in the code is declared there, in the package that it names or
// in any.
func TestContributingNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := identifierRE.FindAllStringSubmatch(string(text), -1)
	if len(found) < 30 {
		t.Fatalf("only %d names of the code are in CONTRIBUTING.md", len(found))
	}
	names := declaredNames(t)
	for _, f := range found {
		for _, name := range f[2:] {
			if name != "" && !names[f[1]][name] && !slices.Contains(notOurs, name) {
				t.Errorf("CONTRIBUTING.md names %s, which is not declared", f[0])
			}
		}
	}
}

// declaredNames are the functions, types, fields, variables and constants below
// internal/ and test/, by the last part of their package's path, and all of them by "".
func declaredNames(t *testing.T) map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]bool{"": {}}
	for _, p := range packages(t) {
		of := filepath.Base(p.ImportPath)
		if names[of] == nil {
			names[of] = map[string]bool{}
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if _, ok := n.(*ast.AssignStmt); ok {
					return true
				}
				for _, id := range goname.ListDeclared(n) {
					names[of][id.Name], names[""][id.Name] = true, true
				}
				return true
			})
		}
	}
	return names
}
