package archtest

import (
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// A demand is a row of docs/requirements.md.
type demand struct {
	text, state, shown string
}

// readDemands returns the rows of docs/requirements.md by their numbers.
func readDemands(t *testing.T) map[string]demand {
	t.Helper()
	number := regexp.MustCompile(`^` + requirementRE.String() + `$`)
	demands := map[string]demand{}
	page := trackedFiles(t, "docs/requirements.md")["docs/requirements.md"]
	for line := range strings.SplitSeq(page, "\n") {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) < 2 || !number.MatchString(strings.TrimSpace(cells[1])) {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		if len(cells) != 6 {
			t.Errorf("the row of %s has %d cells", cells[1], len(cells)-2)
			continue
		}
		if _, twice := demands[cells[1]]; twice {
			t.Errorf("%s is listed twice", cells[1])
		}
		demands[cells[1]] = demand{text: cells[2], state: cells[3], shown: cells[4]}
	}
	return demands
}

// testdata/demands.sums holds a digest of each demand as its source words it. A demand
// that is shortened until the program meets it fails here: the state of the row says
// "partly" instead, and the last column what lacks.
func TestDemandsAreQuotedWhole(t *testing.T) {
	demands := readDemands(t)
	sums := trackedFiles(t, "test/archtest/testdata/demands.sums")["test/archtest/testdata/demands.sums"]
	for line := range strings.SplitSeq(strings.TrimSpace(sums), "\n") {
		number, want, _ := strings.Cut(line, " ")
		d, listed := demands[number]
		if !listed {
			t.Errorf("docs/requirements.md does not list %s", number)
			continue
		}
		delete(demands, number)
		sum := sha256.Sum256([]byte(d.text))
		if got := hex.EncodeToString(sum[:])[:len(want)]; got != want {
			t.Errorf("%s does not have the words of its source (digest %s, not %s)", number, got, want)
		}
	}
	for number := range demands {
		t.Errorf("%s has no digest in testdata/demands.sums", number)
	}
}

// A met demand names its tests, and one of them cites its number, so that a reader finds
// the way in both directions. The others say what lacks.
func TestMetDemandsAreCitedByTheirTests(t *testing.T) {
	cited := map[string]string{}
	fset := token.NewFileSet()
	for name, text := range trackedFiles(t, "_test.go") {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testRE.MatchString(fn.Name.Name) {
				body := text[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset]
				cited[fn.Name.Name] += fn.Doc.Text() + body + "\n"
			}
		}
	}
	for number, d := range readDemands(t) {
		switch d.state {
		case "met":
			citation := regexp.MustCompile(`\b` + number + `\b`)
			found := false
			for _, test := range testRE.FindAllString(d.shown, -1) {
				found = found || citation.MatchString(cited[test])
			}
			if !found {
				t.Errorf("%s is met, but none of its tests cites it: %s", number, d.shown)
			}
		case "partly", "not yet":
			if d.shown == "" {
				t.Errorf("%s is %q and does not say what lacks", number, d.state)
			}
		default:
			t.Errorf("%s has the state %q, which is not met, partly or not yet", number, d.state)
		}
	}
}
