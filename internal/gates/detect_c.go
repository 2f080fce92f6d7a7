package gates

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/gitops"
)

// A C compiler is large and takes a minute to come. It is asked for where
// something calls it: Go files that import "C", tests with the race detector,
// and Makefiles that compile.

// importCRE is the line by which a Go file asks for cgo.
var importCRE = regexp.MustCompile(`(?m)^[ \t]*(import[ \t]+)?"C"[ \t]*(//.*)?\r?$`)

// raceFlagRE is the flag that wants cgo for the tests of any Go module.
var raceFlagRE = regexp.MustCompile(`(^|[\s"'=])-race\b`)

// needsCgo reports whether the Go files of the tree, copies of others among them,
// need a C compiler, or a command asks for the race detector.
func (s *repoScan) needsCgo(commands []string) bool {
	if slices.ContainsFunc(commands, raceFlagRE.MatchString) {
		return true
	}
	var files []gitops.Entry
	for p, e := range s.files {
		dir, name := splitPath(p)
		if strings.HasSuffix(name, ".go") && e.Size <= maxManifest && !unseenByGo(dir) && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			files = append(files, e)
		}
	}
	return s.anyMatches(files, importCRE) || slices.ContainsFunc(commands, callsMake) && s.anyMatches(s.listMakefiles(), raceFlagRE)
}

// unseenByGo reports whether the go command never looks into a folder.
func unseenByGo(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	})
}

func callsMake(command string) bool { return toolchainOf(command) == "make" }

// compilerRE is a word by which a Makefile, or a script that it may call, names
// what comes with a C compiler, or make's own variables for them.
var compilerRE = regexp.MustCompile(`\$[({](CC|CXX|CPP|LD|AS|AR|RANLIB|FC|LINK|COMPILE)\b|(^|[\s;&|@(=:/"'` + "`" + `-])(cc|gcc|g\+\+|c\+\+|cpp|clang|clang\+\+|tcc|ld|ar|cmake|libtool|pkg-config)([\s;&|)"'=0-9-]|$)`)

// compiledExts are the endings of files that make's built-in rules compile.
var compiledExts = []string{".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hh", ".hpp", ".s", ".S", ".f", ".l", ".y", ".m"}

// needsCompiler reports whether make may call a C compiler here: there are sources
// that its built-in rules compile, or a Makefile or script names one. Where
// that is not sure, the answer is yes: a gate without its compiler is red.
func (s *repoScan) needsCompiler() bool {
	var texts []gitops.Entry
	for p, e := range s.files {
		_, name := splitPath(p)
		switch {
		case slices.Contains(compiledExts, path.Ext(name)):
			return true
		case name == "configure" || name == "configure.ac" || name == "CMakeLists.txt" || name == "meson.build":
			return true
		case strings.HasSuffix(name, ".sh") || e.Mode == gitops.ModeExec:
			if e.Size > maxManifest {
				return true // not read, so not known
			}
			texts = append(texts, e)
		}
	}
	return s.anyMatches(append(texts, s.listMakefiles()...), compilerRE)
}

// listMakefiles are the files that make reads, or may include.
func (s *repoScan) listMakefiles() []gitops.Entry {
	var out []gitops.Entry
	for p, e := range s.files {
		_, name := splitPath(p)
		if strings.HasPrefix(strings.ToLower(name), "makefile") || name == "GNUmakefile" || strings.HasSuffix(name, ".mk") || strings.HasSuffix(name, ".mak") {
			out = append(out, e)
		}
	}
	return out
}

// errFound ends a search.
var errFound = errors.New("gates: found")

// anyMatches reports whether one of the files holds what is looked for.
func (s *repoScan) anyMatches(files []gitops.Entry, what *regexp.Regexp) bool {
	if len(files) == 0 || s.err != nil {
		return false
	}
	err := s.mirror.ReadFiles(s.ctx, files, func(_ gitops.Entry, text []byte) error {
		if what.Match(text) {
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		s.err = err
	}
	return errors.Is(err, errFound)
}
