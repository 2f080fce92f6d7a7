package makefile

import (
	"path"
	"slices"

	"company/internal/ecosystem"
)

// makefiles are the files that make reads, in the order of its choice.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// included are names of files that Makefiles include; texts and sources, such as a makefile.py that
// writes some, are no such files. A program that a gate runs is known from the gate.
var (
	included = []string{"*.mk", "*.mak", "*.make", "Makefile.*", "makefile.*", "GNUmakefile.*", "BSDmakefile", "Kbuild",
		"Kbuild.*"}
	others = []string{
		".md", ".rst", ".txt", ".adoc", ".html",
		".py", ".go", ".rs", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".rb", ".php", ".java", ".kt", ".cs", ".c",
		".h", ".cc", ".cpp", ".hpp", ".swift", ".lua", ".pl", ".pyi",
	}
)

// IsGateFile says whether a file is a Makefile, or named like one that is included.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, makefiles) ||
		ecosystem.HasName(file, included) && !slices.Contains(others, path.Ext(file))
}
