package rust

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Narrow is the tests within the crates, where there are tests beside them: each
// file of tests/ is linked as a program of its own.
func (Ecosystem) Narrow(t *ecosystem.Tree, g company.GateCommand) (command, why string, ok bool) {
	if !strings.HasPrefix(g.Command, "cargo test") || strings.Contains(g.Command, " --lib") {
		return "", "", false
	}
	for _, p := range t.FilesBelow(g.Dir) {
		dir, name := ecosystem.SplitPath(p)
		if path.Base(dir) == "tests" && strings.HasSuffix(name, ".rs") {
			return g.Command + " --lib --bins", "the tests in tests/ are programs of their own", true
		}
	}
	return "", "", false
}
