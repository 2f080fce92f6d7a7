package golang

import (
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/testreport"
)

// maxLoose bounds the files without a module that are read.
const maxLoose = 2000

// detectLoose is for Go files of a repository that has no go.mod at all. Those that
// import the standard library alone are checked as they lie there; others need a
// module, or the one place on a machine that they were written for.
func (e Ecosystem) detectLoose(t *ecosystem.Tree) []ecosystem.Component {
	var files []ecosystem.File
	tests := false
	for _, f := range goFiles(t) {
		if dir, name := ecosystem.SplitPath(f.Path); !ecosystem.IsForeignDir(dir) {
			files, tests = append(files, f), tests || isTestFile(name)
		}
	}
	if len(files) == 0 || !isOfGo(t, len(files)) {
		return nil
	}
	t.AddProject(e.Name(), "")
	slices.SortFunc(files, func(a, b ecosystem.File) int { return strings.Compare(a.Path, b.Path) })
	foreign := ""
	t.ReadTexts(files[:min(len(files), maxLoose)], func(_ ecosystem.File, text []byte) {
		if foreign == "" {
			foreign = findForeignImport(text)
		}
	})
	if foreign != "" || len(files) > maxLoose {
		t.AddNote("there is no go.mod, and Go files import %s: nothing of them is checked (`go mod init` and `go mod tidy` make one)", ecosystem.PrintablePath(foreign))
		return nil
	}
	const without = "GO111MODULE=off "
	c := ecosystem.Component{Kind: e.Name(), Description: "Go files without a module",
		Lint: &company.GateCommand{Command: without + "go vet ./...", Report: without + "go vet ./... 2>&1", Parse: testreport.FormatFindings}}
	if tests {
		c.Test = &company.GateCommand{Command: without + "go test ./..."}
		e.CompleteGate(c.Test)
	}
	return []ecosystem.Component{c}
}

// isOfGo says whether a repository with some Go files is one of Go: they lie at its
// root, or most of its files are some.
func isOfGo(t *ecosystem.Tree, n int) bool {
	return 2*n > len(t.Files) || slices.ContainsFunc(t.Dirs[""], func(name string) bool { return strings.HasSuffix(name, ".go") })
}

// findForeignImport is the first import of a file that is neither the standard
// library's nor beside it; empty: there is none.
func findForeignImport(text []byte) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return "" // the compiler says it better
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		first, _, _ := strings.Cut(name, "/")
		if err == nil && strings.Contains(first, ".") && first != "." && first != ".." {
			return name
		}
	}
	return ""
}
