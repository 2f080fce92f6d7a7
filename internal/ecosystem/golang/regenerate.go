package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/shellquote"
)

var _ ecosystem.Generator = Ecosystem{}

// Generates reports whether a file is a Go file.
func (Ecosystem) Generates(name string) bool { return strings.HasSuffix(name, ".go") }

// IsGenerated reports whether a Go file has the line of https://go.dev/s/generatedcode before its package clause.
func (Ecosystem) IsGenerated(text []byte) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly|parser.ParseComments)
	return err == nil && ast.IsGenerated(f)
}

// GenerateCommands returns go generate commands for the folder of a file, if it has go:generate lines. It adds other
// folders of the module in which such a line names the file or its folder.
func (Ecosystem) GenerateCommands(tree *ecosystem.Tree, file string) []string {
	dir, _ := ecosystem.SplitPath(file)
	module, ok := tree.NearestWith(dir, "go.mod")
	if !ok {
		return nil
	}
	commands := map[string]string{} // by folder
	tree.ReadTexts(goFiles(tree), func(f ecosystem.File, text []byte) {
		at, _ := ecosystem.SplitPath(f.Path)
		if in, _ := tree.NearestWith(at, "go.mod"); in != module || ecosystem.IsForeignDir(at) || commands[at] != "" {
			return
		}
		for _, m := range generateRE.FindAllSubmatch(text, -1) {
			if at == dir || namesPath(string(m[1]), at, dir, file) {
				commands[at] = generateCommand(module, at)
			}
		}
	})
	return slices.Sorted(maps.Values(commands))
}

// namesPath reports whether a go:generate line in a folder names one of these paths.
func namesPath(line, at string, paths ...string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"'=,:", r) })
	return slices.ContainsFunc(words, func(w string) bool {
		named := path.Join(at, w)
		return slices.ContainsFunc(paths, func(p string) bool { return path.Clean(p) == named })
	})
}

// generateCommand returns a command that runs go generate in a folder of a module.
func generateCommand(module, dir string) string {
	command := "go generate ."
	if in := strings.TrimPrefix(strings.TrimPrefix(dir, module), "/"); in != "" {
		command = "go generate " + shellquote.QuoteArgument("./"+in)
	}
	if module != "" {
		command = "cd " + shellquote.QuoteArgument("./"+module) + " && " + command
	}
	return command
}
