package archtest

import (
	"go/parser"
	"go/token"
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
			ast, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range ast.Comments {
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
