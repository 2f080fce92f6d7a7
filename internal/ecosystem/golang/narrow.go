package golang

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// shortRE matches a test's check for the short mode.
var shortRE = lazyregexp.New(`\btesting\.Short\(\)`)

// Narrow returns the test command in short mode, if some tests support it.
func (Ecosystem) Narrow(tree *ecosystem.Tree, gateCommand company.GateCommand) (command, reason string, ok bool) {
	if !strings.HasPrefix(gateCommand.Command, "go test ") || strings.Contains(gateCommand.Command, "-short") {
		return "", "", false
	}
	var tests []ecosystem.File
	for _, file := range goFiles(tree) {
		if strings.HasSuffix(file.Path, "_test.go") && ecosystem.IsUnder(file.Path, gateCommand.Dir) {
			tests = append(tests, file)
		}
	}
	if !tree.AnyMatches(tests, shortRE) {
		return "", "", false
	}
	return strings.Replace(gateCommand.Command, "go test ", "go test -short ", 1), "its tests ask testing.Short()", true
}
