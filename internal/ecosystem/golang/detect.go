// Package golang is the ecosystem of Go: modules, go vet, go build and go test.
package golang

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// Ecosystem is Go.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "go" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"go", "gofmt"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return "go.mod" }

// Detect finds the modules of a repository. Each is checked where its go.mod
// is: ./... never reaches into another one.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	dirs := t.FoldersWith("go.mod")
	if len(dirs) == 0 {
		return e.detectLoose(t)
	}
	for _, name := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml"} {
		if t.HasFile("", name) {
			t.AddNote("%s is there; lint is go vet, which every image has (gates.lint: golangci-lint run)", name)
		}
	}
	for _, dir := range dirs {
		if !t.HasBelow(dir, ".go") {
			t.AddNote("the Go module in %s has no Go files", ecosystem.DisplayDir(dir))
			continue
		}
		out = append(out, ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Go module",
			Lint: &company.GateCommand{Command: "go vet ./...", Report: "go vet ./... 2>&1", Parse: testreport.FormatFindings},
			Test: &company.GateCommand{Command: "go test ./...", Report: "go test -json ./...", Parse: formatJSON,
				Plant: plantGo, Canary: "go list -find -e -f '{{.Dir}}' ./...\ngo test -json"}})
	}
	s := scanFiles(t)
	s.noteTags(t)
	s.addBuilds(out)
	return append(out, s.findGenerated(t, out)...)
}

// buildMains links the programs of a module, and keeps none. What go vet and go test compile they do not link.
const buildMains = "go build -o /dev/null ./..."

// addBuilds gives the modules that have programs a check that these can be built. Nothing need ask for it: it judges where
// the base is green by it.
func (s scan) addBuilds(modules []ecosystem.Component) {
	for dir := range s.mains {
		of := -1 // the innermost module
		for i, m := range modules {
			if ecosystem.IsUnder(dir, m.Dir) && (of < 0 || len(m.Dir) > len(modules[of].Dir)) {
				of = i
			}
		}
		if of >= 0 {
			modules[of].Build = &company.GateCommand{Command: buildMains, Report: buildMains + " 2>&1", Parse: testreport.FormatFindings, Provisional: true}
		}
	}
}

// A C compiler is large and takes a minute to come. It is asked for where
// something calls it: Go files that import "C", and tests with the race
// detector.

// importCRE is the line by which a Go file asks for cgo.
var importCRE = lazyregexp.New(`(?m)^[ \t]*(import[ \t]+)?"C"[ \t]*(//.*)?\r?$`)

// raceFlagRE is the flag that wants cgo for the tests of any Go module.
var raceFlagRE = lazyregexp.New(`(^|[\s"'=])-race\b`)

// Needs is cgo where the Go files of the tree, copies of others among them, or a
// well-known module need a C compiler, or a command asks for the race detector.
func (e Ecosystem) Needs(t *ecosystem.Tree, need func(string) bool, commands []string) []string {
	switch {
	case !need(e.Name()):
		return nil
	case slices.ContainsFunc(commands, raceFlagRE.MatchString),
		t.AnyMatches(goFiles(t), importCRE),
		need("make") && t.AnyMatches(t.Makefiles(), raceFlagRE),
		needsCgoModule(t):
		return []string{cgo}
	}
	return nil
}

// goFiles are the files that the go command reads.
func goFiles(t *ecosystem.Tree) []ecosystem.File {
	var files []ecosystem.File
	for p, f := range t.Files {
		dir, name := ecosystem.SplitPath(p)
		if strings.HasSuffix(name, ".go") && f.Size <= ecosystem.MaxManifest && !isUnseen(dir) && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			files = append(files, f)
		}
	}
	return files
}

// isUnseen reports whether the go command never looks into a folder.
func isUnseen(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	})
}
