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

// maxVague is the most comment lines of a thousand that may hold a vague word.
// It may only fall: lower it when the test shows a smaller number.
const maxVague = 8

// vague are words that hide the subject of a sentence: a comment with one of
// them names neither the program that acts nor the object that it acts on.
// People are "who"; programs and data have names.
var vague = regexp.MustCompile(`(?i)\b(things?|nobody|somebody|anybody|whoever|who|whom|words?|said|told|what is|what was|that which)\b`)

// commentLine is one line of a comment in a file that is no test.
type commentLine struct {
	at   token.Position
	text string
}

func commentLines(t *testing.T) []commentLine {
	t.Helper()
	var all []commentLine
	for _, p := range packages(t) {
		if strings.HasPrefix(p.ImportPath, "company/test/") {
			continue
		}
		for _, f := range p.GoFiles {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				for _, c := range group.List {
					at := set.Position(c.Pos())
					for i, text := range strings.Split(c.Text, "\n") {
						line := at
						line.Line += i
						all = append(all, commentLine{line, text})
					}
				}
			}
		}
	}
	return all
}

func TestCommentsNameTheirSubject(t *testing.T) {
	lines := commentLines(t)
	var found []commentLine
	for _, l := range lines {
		if vague.MatchString(l.text) {
			found = append(found, l)
		}
	}
	share := 1000 * len(found) / len(lines)
	t.Logf("%d of %d comment lines are vague, %d of a thousand", len(found), len(lines), share)
	if share <= maxVague {
		return
	}
	dir := root(t)
	for _, l := range found {
		rel, _ := filepath.Rel(dir, l.at.Filename)
		t.Logf("%s:%d: %s", rel, l.at.Line, l.text)
	}
	t.Errorf("%d comment lines of a thousand are vague, and %d may be: name the subject", share, maxVague)
}

// maxSentinels is the most lines of comments that hide the meaning of nil behind a
// semicolon ("of the office; nil: none"). It may only fall: nil has a line of its own.
const maxSentinels = 74

func TestNilHasALineOfItsOwn(t *testing.T) {
	var found []string
	for _, l := range commentLines(t) {
		if strings.Contains(l.text, "; nil:") {
			found = append(found, l.at.String()+": "+l.text)
		}
	}
	t.Logf("%d comments say what nil means behind a semicolon", len(found))
	if len(found) > maxSentinels {
		t.Errorf("%d comments say what nil means behind a semicolon, and %d may: give nil a line of its own\n%s", len(found), maxSentinels, strings.Join(found, "\n"))
	}
}

// vagueText are the words for which the texts for people have a name, too: of an agent, a
// company, a person, a file.
var vagueText = regexp.MustCompile(`(?i)\b(things?|nobody|somebody|anybody|everybody|whoever|said|told|what is|what was)\b`)

// The most lines of help texts, and of the pages of docs/, that may hold a vague word.
// They may only fall: lower them when the test shows a smaller number.
const (
	maxVagueHelp = 11
	maxVagueDocs = 76
)

// TestHelpNamesItsSubject counts vague words in what commands say of themselves.
func TestHelpNamesItsSubject(t *testing.T) {
	var found []string
	texts := 0
	for _, p := range packages(t) {
		if name, ok := strings.CutPrefix(p.ImportPath, "company/internal/cli"); !ok || isForTests(name) {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				field, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				if key, ok := field.Key.(*ast.Ident); !ok || key.Name != "Short" && key.Name != "Long" {
					return true
				}
				ast.Inspect(field.Value, func(n ast.Node) bool {
					if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
						texts++
						for line := range strings.SplitSeq(strings.ReplaceAll(text.Value, `\n`, "\n"), "\n") {
							if vagueText.MatchString(line) {
								found = append(found, f+": "+line)
							}
						}
					}
					return true
				})
				return true
			})
		}
	}
	if texts < 80 {
		t.Errorf("only %d help texts were found", texts)
	}
	boundVague(t, "help texts", found, maxVagueHelp)
}

// TestPagesNameTheirSubject counts vague words in the pages of docs/. findings.md is
// left out: it records faults as they were found, and is not written anew.
func TestPagesNameTheirSubject(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	var found []string
	for _, page := range pages {
		if filepath.Base(page) == "findings.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if vagueText.MatchString(line) && !strings.HasPrefix(line, "<!--") { // marks are for make docs alone
				found = append(found, filepath.Base(page)+": "+line)
			}
		}
	}
	boundVague(t, "pages", found, maxVagueDocs)
}

// boundVague fails with all lines where there are more of them than may be.
func boundVague(t *testing.T, of string, found []string, most int) {
	t.Helper()
	t.Logf("%d lines of %s are vague", len(found), of)
	if len(found) > most {
		t.Errorf("%d lines of %s are vague, and %d may be: name the subject\n%s", len(found), of, most, strings.Join(found, "\n"))
	}
}
