package golang

import (
	"path"

	"company/internal/ecosystem"
)

// gateFiles leave modules out of a workspace, configure linters, or are mage's programs.
var gateFiles = []string{"go.work", ".golangci.*", "staticcheck.conf", "revive.toml", ".revive.toml", ".testcoverage.yml", "magefile.go"}

// IsGateFile says whether a file leaves modules out of a workspace, configures a linter,
// or is code of others that lies in the repository.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, gateFiles) || path.Ext(file) == ".go" && (ecosystem.LiesIn(file, "vendor") || ecosystem.LiesIn(file, "magefiles"))
}
