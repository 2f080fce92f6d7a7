package golang

import (
	"path"
	"slices"
	"strings"
)

// IsGateFile says whether a file leaves modules out of a workspace, or is code of
// others that lies in the repository.
func (Ecosystem) IsGateFile(file string) bool {
	dir, name := path.Split(file)
	return name == "go.work" || path.Ext(name) == ".go" && slices.Contains(strings.Split(dir, "/"), "vendor")
}
