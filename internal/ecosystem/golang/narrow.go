package golang

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// shortRE is the question of a test whether it is to be short.
var shortRE = lazyregexp.New(`\btesting\.Short\(\)`)

// Narrow is the tests in their short form, where some of them have one.
func (Ecosystem) Narrow(t *ecosystem.Tree, g company.GateCommand) (command, why string, ok bool) {
	if !strings.HasPrefix(g.Command, "go test ") || strings.Contains(g.Command, "-short") {
		return "", "", false
	}
	var tests []ecosystem.File
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f.Path, "_test.go") && ecosystem.IsUnder(f.Path, g.Dir) {
			tests = append(tests, f)
		}
	}
	if !t.AnyMatches(tests, shortRE) {
		return "", "", false
	}
	return strings.Replace(g.Command, "go test ", "go test -short ", 1), "its tests ask testing.Short()", true
}
