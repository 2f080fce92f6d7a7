package rust

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Narrow restricts cargo test to the tests inside the crates if there are also tests in tests/. Each file
// in tests/ is linked as a separate program.
func (Ecosystem) Narrow(tree *ecosystem.Tree, gateCommand company.GateCommand) (command, reason string, ok bool) {
	if !strings.HasPrefix(gateCommand.Command, "cargo test") || strings.Contains(gateCommand.Command, " --lib") {
		return "", "", false
	}
	for _, p := range tree.FilesBelow(gateCommand.Dir) {
		dir, name := ecosystem.SplitPath(p)
		if path.Base(dir) == "tests" && strings.HasSuffix(name, ".rs") {
			return gateCommand.Command + " --lib --bins", "the tests in tests/ are programs of their own", true
		}
	}
	return "", "", false
}
