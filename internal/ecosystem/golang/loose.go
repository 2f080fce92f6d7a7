package golang

import (
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
)

// maxLoose limits the Go files without a module that are read.
const maxLoose = 2000

// detectLoose handles repositories that have Go files but no go.mod. If the files import only the standard library,
// they are checked as they are. Other files need a module, or work only in the place that they were written for.
func (e Ecosystem) detectLoose(tree *ecosystem.Tree) []ecosystem.Component {
	var files []ecosystem.File
	tests := false
	for _, file := range goFiles(tree) {
		if dir, name := ecosystem.SplitPath(file.Path); !ecosystem.IsForeignDir(dir) {
			files, tests = append(files, file), tests || isTestFile(name)
		}
	}
	if len(files) == 0 || !isOfGo(tree, len(files)) {
		return nil
	}
	tree.AddProject(e.Name(), "")
	slices.SortFunc(files, func(a, b ecosystem.File) int { return strings.Compare(a.Path, b.Path) })
	foreign := ""
	tree.ReadTexts(files[:min(len(files), maxLoose)], func(_ ecosystem.File, text []byte) {
		if foreign == "" {
			foreign = findForeignImport(text)
		}
	})
	if foreign != "" || len(files) > maxLoose {
		tree.AddNote("there is no go.mod, and Go files import %s: nothing of them is checked (`go mod init` and `go mod "+
			"tidy` "+
			"make one)", ecosystem.PrintablePath(foreign))
		return nil
	}
	const without = "GO111MODULE=off "
	component := ecosystem.Component{Kind: e.Name(), Description: "Go files without a module",
		Lint: &company.GateCommand{Command: without + "go vet ./...", Report: without + "go vet ./... 2>&1",
			Parse: testreport.FormatFindings}}
	if tests {
		component.Test = &company.GateCommand{Command: without + "go test ./..."}
		e.CompleteGate(component.Test)
	}
	return []ecosystem.Component{component}
}

// isOfGo reports whether a repository with n Go files is a Go project. Go files must be in its root or be more than
// half of its files.
func isOfGo(tree *ecosystem.Tree, n int) bool {
	return 2*n > len(tree.Files) || slices.ContainsFunc(
		tree.Dirs[""], func(name string) bool { return strings.HasSuffix(name, ".go") })
}

// findForeignImport returns the first import that is neither in the standard library nor relative, or "".
func findForeignImport(text []byte) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return "" // the compiler reports the error better
	}
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		first, _, _ := strings.Cut(name, "/")
		if err == nil && strings.Contains(first, ".") && first != "." && first != ".." {
			return name
		}
	}
	return ""
}
