package makefile

import (
	"path"
	"slices"

	"company/internal/ecosystem"
)

// makefiles are the files that make reads, in the order of its choice.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// included are names of files that Makefiles include; texts are no such files.
var (
	included = []string{"*.mk", "*.mak", "*.make", "Makefile.*", "makefile.*", "GNUmakefile.*", "BSDmakefile", "Kbuild", "Kbuild.*"}
	texts    = []string{".md", ".rst", ".txt", ".adoc", ".html"}
)

// IsGateFile says whether a file is a Makefile, or named like one that is included.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, makefiles) || ecosystem.HasName(file, included) && !slices.Contains(texts, path.Ext(file))
}
