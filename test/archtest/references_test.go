package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// requirementRE is the number of a requirement, as docs/requirements.md has it.
var requirementRE = regexp.MustCompile(
	`\b(?:SUB|BUS|STA|WRK|CTR|PRC|GIT|GAT|REV|FRG|ADP|CFG|APR|FLW|SES|ART|LOG|CLI|UI|DOC|REC|ERR|TST|DST|BTF)-[0-9]+\b`)

// threatRE is the number of a threat in a comment, as docs/threats.md has it.
var threatRE = regexp.MustCompile(`//.*\b(T[0-9]{1,2})\b`)

// testRE is the name of a test or a fuzz target.
var testRE = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)

// trackedFiles gives the text of all files of the tree with one of these
// endings, by their path.
func trackedFiles(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	all, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range all {
		if slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) }) {
			files[name] = text
		}
	}
	return files
}

// readTree reads the files of the tree once for all tests, those that are text.
var readTree = sync.OnceValues(func() (map[string]string, error) {
	dir, err := findRoot()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && bytes.IndexByte(text, 0) < 0 {
			files[name] = string(text)
		}
	}
	return files, nil
})

// listed are the first cells of a page's tables.
func listed(page string) map[string]bool {
	rows := map[string]bool{}
	for line := range strings.SplitSeq(page, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = true
		}
	}
	return rows
}

func TestCitedNumbersAreListed(t *testing.T) {
	pages := trackedFiles(t, "docs/requirements.md", "docs/threats.md")
	requirements, threats := listed(pages["docs/requirements.md"]), listed(pages["docs/threats.md"])
	if len(requirements) < 100 || len(threats) < 20 {
		t.Fatalf("only %d requirements and %d threats are listed", len(requirements), len(threats))
	}
	for name, text := range trackedFiles(t, ".go") {
		for _, number := range requirementRE.FindAllString(text, -1) {
			if !requirements[number] {
				t.Errorf("%s cites %s, which docs/requirements.md does not list", name, number)
			}
		}
		for _, m := range threatRE.FindAllStringSubmatch(text, -1) {
			if !threats[m[1]] {
				t.Errorf("%s cites %s, which docs/threats.md does not list", name, m[1])
			}
		}
	}
}

func TestDocsNameTestsThatExist(t *testing.T) {
	exists := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	for _, text := range trackedFiles(t, "_test.go") {
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			exists[m[1]] = true
		}
	}
	for name, text := range trackedFiles(
		t, "docs/requirements.md", "docs/threats.md", "CONTRIBUTING.md", "docs/walkthrough.md", "docs/glossary.md") {
		for _, test := range testRE.FindAllString(text, -1) {
			if !exists[test] {
				t.Errorf("%s names %s, which no package has", name, test)
			}
		}
	}
}

// A text that is not part of the tree helps no reader who is sent to it.
func TestNoUnshippedTextIsCited(t *testing.T) {
	cites := regexp.MustCompile(
		`\b(?:DESIGN|THREATS|SPIKE|REFIT|FOUNDATIONS|LESSONS|WORKER_LOOP|REQUIREMENTS|COVERAGE)\b|§ ?[0-9]|\b(?:FORGE|UX|STYLE|FIELD|FINDINGS) [A-Z]?[0-9]`)
	for name, text := range trackedFiles(t, ".go", ".md", ".txtar", ".yml", ".sh", "Makefile") {
		if name == "test/archtest/references_test.go" || strings.Contains(name, "testdata/script/fixture") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if m := cites.FindString(line); m != "" {
				t.Errorf("%s:%d cites %q, which is not in this tree", name, i+1, m)
			}
		}
	}
}

// A property test names the requirement whose property it is, in its comment (TST-1).
func TestPropertiesNameTheirRequirement(t *testing.T) {
	fset, found := token.NewFileSet(), 0
	for name, text := range trackedFiles(t, "_test.go") {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") || !callsRapid(fn) {
				continue
			}
			found++
			if !requirementRE.MatchString(fn.Doc.Text()) {
				t.Errorf("%s: %s draws its cases and names no requirement", name, fn.Name.Name)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d property tests were found", found)
	}
}

// callsRapid: a function calls rapid.Check.
func callsRapid(fn *ast.FuncDecl) bool {
	calls := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Check" {
			pkg, ok := sel.X.(*ast.Ident)
			calls = calls || ok && pkg.Name == "rapid"
		}
		return !calls
	})
	return calls
}
