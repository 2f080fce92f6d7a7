package makefile

import (
	"path"
	"slices"
)

// makefiles are the files that make reads, in the order of its choice.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// IsGateFile says whether a file is a Makefile, or named like one that is included.
func (Ecosystem) IsGateFile(file string) bool {
	return path.Ext(file) == ".mk" || slices.Contains(makefiles, path.Base(file))
}
