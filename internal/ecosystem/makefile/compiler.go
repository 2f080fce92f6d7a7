package makefile

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// compilerRE matches the programs of a C compiler in a Makefile, or in a script
// that it may call, or make's own variables for them.
var compilerRE = lazyregexp.New(
	`\$[({](CC|CXX|CPP|LD|AS|AR|RANLIB|FC|LINK|COMPILE)\b|(^|[\s;&|@(=:/"'` + "`" +
		`-])(cc|gcc|g\+\+|c\+\+|cpp|clang|clang\+\+|tcc|ld|ar|cmake|libtool|pkg-config)([\s;&|)"'=0-9-]|$)`)

// compiledExts are the endings of files that make's built-in rules compile.
var compiledExts = []string{".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hh", ".hpp", ".s", ".S", ".f", ".l", ".y", ".m"}

// cacheToolchain is what keeps the objects of the base for builds by make alone: the
// other build systems of C bring it with their compilers.
const cacheToolchain = "ccache"

// Needs is a C compiler where make may call one here, and ccache where make is all that
// builds sources of C.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if !need(e.Name()) || !needsCompiler(tree) {
		return nil
	}
	isOther := func(p ecosystem.Component) bool { return p.Kind != e.Name() }
	if !slices.ContainsFunc(tree.Projects(), isOther) && tree.HasBelow("", sourceExts...) {
		return []string{"c", cacheToolchain}
	}
	return []string{"c"}
}

// sourceExts are the endings of sources of C and C++.
var sourceExts = []string{".c", ".cc", ".cpp", ".cxx", ".C"}

// needsCompiler reports whether make may call a C compiler here: there are sources
// that its built-in rules compile, or a Makefile or script names one. Where
// that is not sure, the answer is yes: a gate without its compiler is red.
func needsCompiler(tree *ecosystem.Tree) bool {
	var texts []ecosystem.File
	for p, file := range tree.Files {
		_, name := ecosystem.SplitPath(p)
		switch {
		case slices.Contains(compiledExts, path.Ext(name)):
			return true
		case name == "configure" || name == "configure.ac" || name == "CMakeLists.txt" || name == "meson.build":
			return true
		case strings.HasSuffix(name, ".sh") || file.Executable:
			if file.Size > ecosystem.MaxManifest {
				return true // not read, so not known
			}
			texts = append(texts, file)
		}
	}
	return tree.AnyMatches(append(texts, tree.Makefiles()...), compilerRE)
}
