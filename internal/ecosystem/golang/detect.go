// Package golang is the ecosystem of Go: modules, go vet, go build and go test.
package golang

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is Go.
type Ecosystem struct{}

// Name returns the name of the toolchain.
func (Ecosystem) Name() string { return "go" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"go", "gofmt"} }

// Manifest returns the file that identifies a project.
func (Ecosystem) Manifest() string { return "go.mod" }

// Detect finds the modules of a repository. Each is checked in the folder of its go.mod, because ./... does not
// include other modules.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	dirs := tree.FoldersWith("go.mod")
	if len(dirs) == 0 {
		return e.detectLoose(tree)
	}
	for _, name := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml"} {
		if tree.HasFile("", name) {
			tree.AddNote("%s is there; lint is go vet, which every image has (gates.lint: golangci-lint run)", name)
		}
	}
	for _, dir := range dirs {
		if !tree.HasBelow(dir, ".go") {
			tree.AddNote("the Go module in %s has no Go files", ecosystem.DisplayDir(dir))
			continue
		}
		out = append(out, ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Go module",
			Lint: &company.GateCommand{Command: "go vet ./...", Report: "go vet ./... 2>&1", Parse: testreport.FormatFindings},
			Test: &company.GateCommand{Command: "go test ./...", Report: "go test -json ./...", Parse: formatJSON,
				Plant: plantGo, Canary: "go list -find -e -f '{{.Dir}}' ./...\ngo test -json"}})
	}
	scan := scanFiles(tree)
	scan.noteTags(tree)
	scan.addBuilds(out)
	return append(out, scan.findGenerated(tree, out)...)
}

// buildMains links the programs of a module and discards them. go vet and go test compile programs but do not link
// them.
const buildMains = "go build -o /dev/null ./..."

// addBuilds adds a check that builds the programs of a module. It needs no configuration, and counts only if the base
// passes it.
func (s scan) addBuilds(modules []ecosystem.Component) {
	for dir := range s.mains {
		of := -1 // the innermost module
		for i, m := range modules {
			if ecosystem.IsUnder(dir, m.Dir) && (of < 0 || len(m.Dir) > len(modules[of].Dir)) {
				of = i
			}
		}
		if of >= 0 {
			modules[of].Build = &company.GateCommand{Command: buildMains, Report: buildMains + " 2>&1",
				Parse: testreport.FormatFindings, Provisional: true}
		}
	}
}

// A C compiler is large and takes a minute to install. It is requested only if it is needed: for Go files that import
// "C" and for tests with the race detector.

// importCRE matches the line with which a Go file imports cgo.
var importCRE = lazyregexp.New(`(?m)^[ \t]*(import[ \t]+)?"C"[ \t]*(//.*)?\r?$`)

// raceFlagRE matches the flag for the race detector, which needs cgo in any module.
var raceFlagRE = lazyregexp.New(`(^|[\s"'=])-race\b`)

// Needs returns cgo if Go files of the tree (also in copies), a well-known module or the race detector need a C
// compiler.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, commands []string) []string {
	switch {
	case !need(e.Name()):
		return nil
	case slices.ContainsFunc(commands, raceFlagRE.MatchString),
		tree.AnyMatches(goFiles(tree), importCRE),
		need("make") && tree.AnyMatches(tree.Makefiles(), raceFlagRE),
		needsCgoModule(tree):
		return []string{cgo}
	}
	return nil
}

// goFiles returns the files that the go command reads.
func goFiles(tree *ecosystem.Tree) []ecosystem.File {
	var files []ecosystem.File
	for p, file := range tree.Files {
		dir, name := ecosystem.SplitPath(p)
		if strings.HasSuffix(name, ".go") && file.Size <= ecosystem.MaxManifest && !isUnseen(dir) &&
			!strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			files = append(files, file)
		}
	}
	return files
}

// isUnseen reports whether the go command ignores a folder.
func isUnseen(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	})
}
