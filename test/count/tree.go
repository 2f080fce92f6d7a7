package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longFunction = 60 // lines
	hugeFunction = 100
	longLine     = 120 // characters
)

// generatedRE is the line that marks a generated file (https://go.dev/s/generatedcode).
var generatedRE = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// tally is what was counted of a tree. All but lines and statements is of product code.
type tally struct {
	lines, statements map[string]int // by kind
	longLines         map[string]int // by kind
	rooms             map[string]bool
	arrows            map[[2]string]bool // from a room to one that it imports
	packages          map[string]bool

	cliFiles, cliLines, commands int

	functions, longFunctions, hugeFunctions int
	exported, documented                    int
	words                                   int // of Markdown files
}

// kinds of code, as they are printed.
var kinds = []string{"product", "test support", "tools", "tests"}

// kindOf returns the kind of a Go file by its path, in this tree and in earlier ones: a move from one kind to another
// must not look like a saving. Test support lies below test/ and in packages whose names end in "test".
func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_test.go"):
		return "tests"
	case isBelow(name, "test"), strings.HasSuffix(path.Dir(name), "test"), isBelow(name, "internal/hosttest"):
		return "test support"
	case isBelow(name, "tools"), isBelow(name, "internal/bench"), isBelow(name, "internal/handbook"),
		isBelow(name, "cmd/handbook"):
		return "tools"
	}
	return "product"
}

func isBelow(name, folder string) bool { return strings.HasPrefix(name, folder+"/") }

// countTree counts a tree of files.
func countTree(tree fs.FS) (*tally, error) {
	counted := &tally{
		lines: map[string]int{}, statements: map[string]int{}, longLines: map[string]int{},
		rooms: map[string]bool{}, arrows: map[[2]string]bool{}, packages: map[string]bool{},
	}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(slices.Contains([]string{"testdata", "fixtures", "vendor", "examples", "node_modules"}, d.Name()) ||
				len(name) > 1 && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if filepath.Ext(name) == ".md" {
			if !strings.Contains(name, "/") || strings.HasPrefix(name, "docs/") { // not prompts, and not what a test reads
				counted.words += countWords(string(text))
			}
			return nil
		}
		if generatedRE.Match(text) {
			return nil
		}
		return counted.addFile(name, text)
	})
	return counted, err
}

// addFile counts a Go file.
func (c *tally) addFile(name string, text []byte) error {
	kind := kindOf(name)
	c.lines[kind] += bytes.Count(text, []byte("\n"))
	for line := range bytes.Lines(text) {
		if utf8.RuneCount(bytes.TrimRight(line, "\r\n")) > longLine {
			c.longLines[kind]++
		}
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	c.statements[kind] += countStatements(file)
	if isBelow(name, "internal") {
		c.packages[path.Dir(name)] = true
		c.addRoom(name, file)
	}
	if kind != "product" {
		return nil
	}
	if isBelow(name, "internal/surface/cli") || isBelow(name, "internal/cli") {
		c.cliFiles++
		c.cliLines += bytes.Count(text, []byte("\n"))
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

// addRoom notes the folder directly below internal/ that a file is in, and those that it imports,
// unless it is a test or what tests share.
func (c *tally) addRoom(name string, file *ast.File) {
	kind := kindOf(name)
	if kind == "tests" || kind == "test support" {
		return
	}
	room := roomOf(name)
	c.rooms[room] = true
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if _, below, ok := strings.Cut(imported, "company/internal/"); ok {
			if to := roomOf("internal/" + below + "/"); to != room && !strings.HasSuffix(imported, "test") {
				c.arrows[[2]string{room, to}] = true
			}
		}
	}
}

// roomOf is the second folder of a path.
func roomOf(name string) string { return strings.SplitN(name, "/", 3)[1] }

// countStatements counts the statements of a file's functions; a block is none by itself.
func countStatements(file *ast.File) (n int) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt:
		case ast.Stmt:
			n++
		}
		return true
	})
	return n
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

func (c *tally) addFunction(fn *ast.FuncDecl, lines int) {
	c.functions++
	if lines > longFunction {
		c.longFunctions++
	}
	if lines > hugeFunction {
		c.hugeFunctions++
	}
	if fn.Name.IsExported() {
		c.addExported(fn.Doc != nil)
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

// listNumbers lists what was counted, each with its name.
func (c *tally) listNumbers() (out [][2]string) {
	add := func(name, value string) { out = append(out, [2]string{name, value}) }
	for _, kind := range kinds {
		add("statements: "+kind, fmt.Sprint(c.statements[kind]))
	}
	for _, kind := range kinds {
		add("lines: "+kind, fmt.Sprint(c.lines[kind]))
	}
	for _, kind := range kinds {
		add(fmt.Sprintf("lines over %d characters: %s", longLine, kind),
			fmt.Sprintf("%.1f ‰ (%d)", 1000*share(c.longLines[kind], c.lines[kind]), c.longLines[kind]))
	}
	add("rooms below internal/, arrows between them", fmt.Sprintf("%d, %d", len(c.rooms), len(c.arrows)))
	add("packages below internal/", fmt.Sprint(len(c.packages)))
	add("command line: files, lines", fmt.Sprintf("%d, %d", c.cliFiles, c.cliLines))
	add("commands", fmt.Sprint(c.commands))
	add("exported functions, types and values documented", percent(c.documented, c.exported))
	add(fmt.Sprintf("functions over %d lines", longFunction), percent(c.longFunctions, c.functions))
	add(fmt.Sprintf("functions over %d lines", hugeFunction), percent(c.hugeFunctions, c.functions))
	add("words of documents", fmt.Sprint(c.words))
	return out
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f %% (%d)", 100*share(part, whole), part)
}

// countWords counts the words of a text: what has a letter or a digit, so no bar of a table.
func countWords(text string) (words int) {
	for field := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			words++
		}
	}
	return words
}
