package archtest

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

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

// TestNilHasASentence refuses comments that hide the meaning of nil behind a semicolon ("of the office; nil: none"):
// "A nil Clock means the system clock." is a sentence of its own.
func TestNilHasASentence(t *testing.T) {
	var found []string
	for _, l := range commentLines(t) {
		if strings.Contains(l.text, "; nil:") {
			found = append(found, l.at.String()+": "+l.text)
		}
	}
	if len(found) > 0 {
		t.Errorf("%d comments say behind a semicolon what nil means: give that a sentence\n%s", len(found),
			strings.Join(found, "\n"))
	}
}
