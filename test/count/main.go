// Command count prints the numbers of decision 0071 that a program can count: how much
// code and how many tests there are, and how its functions are named and documented.
//
// It reads the Go files below cmd/, internal/ and test/ of a tree, this one or another
// (go run ./test/count DIR), as text: an older tree is counted by the same rules. Files
// for other systems count, too. What test/archtest holds (names of one letter, vague
// comments) its tests log.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// longFunction is the number of lines above which a function is a long one.
const longFunction = 50

// tally is what was counted. Lines are lines of files, with comments and empty ones.
type tally struct {
	packages                            map[string]bool // folders below internal/ with Go files
	codeLines, sharedLines, testLines   int
	cliFiles, cliLines, commands        int
	functions, unexported, oneWord      int
	longFunctions, exported, documented int
	nameLengths                         []int
}

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	counted, err := countTree(os.DirFS(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(counted.renderTable())
}

// countTree counts the tree of a repository.
func countTree(tree fs.FS) (*tally, error) {
	counted := &tally{packages: map[string]bool{}}
	for _, top := range []string{"cmd", "internal", "test"} {
		err := fs.WalkDir(tree, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "fixtures"):
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(name) != ".go":
				return nil
			}
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			return counted.addFile(name, text)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(counted.nameLengths)
	return counted, nil
}

// addFile counts a file by its place: a test, code that tests share, or the program's.
func (c *tally) addFile(name string, text []byte) error {
	lines := bytes.Count(text, []byte("\n"))
	if strings.HasPrefix(name, "internal/") {
		c.packages[path.Dir(name)] = true
	}
	switch {
	case strings.HasSuffix(name, "_test.go"):
		c.testLines += lines
		return nil
	case isShared(name):
		c.sharedLines += lines
		return nil
	}
	c.codeLines += lines
	if strings.HasPrefix(name, "internal/cli/") {
		c.cliFiles++
		c.cliLines += lines
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	c.commands += countCommands(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.addFunction(d, files.Position(d.End()).Line-files.Position(d.Pos()).Line+1)
		case *ast.GenDecl:
			c.addSpecs(d)
		}
	}
	return nil
}

// countCommands counts the cobra.Command literals that run something: a group of
// commands does not.
func countCommands(file *ast.File) (n int) {
	ast.Inspect(file, func(node ast.Node) bool {
		lit, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if t, ok := lit.Type.(*ast.SelectorExpr); !ok || t.Sel.Name != "Command" {
			return true
		}
		for _, field := range lit.Elts {
			pair, ok := field.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := pair.Key.(*ast.Ident); ok && (key.Name == "RunE" || key.Name == "Run") {
				n++
			}
		}
		return true
	})
	return n
}

// isShared reports whether tests alone import the package of a file: all of test/, and
// packages whose name ends in test.
func isShared(name string) bool {
	return strings.HasPrefix(name, "test/") || strings.HasSuffix(path.Dir(name), "test")
}

func (c *tally) addFunction(fn *ast.FuncDecl, lines int) {
	name := fn.Name.Name
	if name == "_" {
		return
	}
	c.functions++
	c.nameLengths = append(c.nameLengths, len(name))
	if lines > longFunction {
		c.longFunctions++
	}
	if fn.Name.IsExported() {
		c.addExported(fn.Doc != nil)
		return
	}
	c.unexported++
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLower(r) }) < 0 {
		c.oneWord++
	}
}

// addSpecs counts exported types, constants and variables. The comment of a group
// stands for all of it.
func (c *tally) addSpecs(group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				c.addExported(cmp.Or(spec.Doc, spec.Comment, group.Doc) != nil)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					c.addExported(cmp.Or(spec.Doc, spec.Comment, group.Doc) != nil)
				}
			}
		}
	}
}

func (c *tally) addExported(documented bool) {
	c.exported++
	if documented {
		c.documented++
	}
}

// renderTable is the numbers for people, a line each.
func (c *tally) renderTable() string {
	percent := func(part, whole int) string {
		return fmt.Sprintf("%.1f %% (%d of %d)", 100*float64(part)/float64(max(whole, 1)), part, whole)
	}
	median := 0
	if n := len(c.nameLengths); n > 0 {
		median = c.nameLengths[n/2]
	}
	var out strings.Builder
	for _, row := range [][2]string{
		{"lines of code without tests in internal/ and cmd/", fmt.Sprint(c.codeLines)},
		{"lines of what tests share", fmt.Sprint(c.sharedLines)},
		{"lines of tests", fmt.Sprint(c.testLines)},
		{"packages below internal/", fmt.Sprint(len(c.packages))},
		{"internal/cli: files, lines without tests", fmt.Sprintf("%d, %d", c.cliFiles, c.cliLines)},
		{"commands of the command line", fmt.Sprint(c.commands)},
		{"functions named by one lower-case word, idioms too", percent(c.oneWord, c.functions)},
		{"of the unexported ones", percent(c.oneWord, c.unexported)},
		{"median length of a function's name", fmt.Sprint(median)},
		{"exported functions, types and values documented", percent(c.documented, c.exported)},
		{fmt.Sprintf("functions over %d lines", longFunction), percent(c.longFunctions, c.functions)},
	} {
		fmt.Fprintf(&out, "%-52s %s\n", row[0], row[1])
	}
	return out.String()
}
