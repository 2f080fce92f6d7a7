package golang

import (
	"path"

	"company/internal/ecosystem"
)

// gateFiles are files that exclude modules from a workspace, configure linters, or are programs of mage.
var gateFiles = []string{"go.work", ".golangci.*", "staticcheck.conf", "revive.toml", ".revive.toml",
	".testcoverage.yml", "magefile.go"}

// IsGateFile reports whether a file excludes modules from a workspace, configures a linter, or is vendored code or a
// program of mage.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, gateFiles) ||
		path.Ext(file) == ".go" && (ecosystem.LiesIn(file, "vendor") || ecosystem.LiesIn(file, "magefiles"))
}
