package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is the package that is broken.
type source struct {
	path    string // its import path
	dir     string
	testDir string // of the package whose tests are asked
	files   []*file
	rapid   bool // its tests draw at random
	fset    *token.FileSet
	imports types.Importer

	patience int // seconds, see run
}

// file is one file of it, without the tests.
type file struct {
	name string
	path string
	text string
	tree *ast.File
	pos  *token.File
}

func (f *file) offset(p token.Pos) int { return f.pos.Offset(p) }
func (f *file) line(offset int) int    { return f.pos.Line(f.pos.Pos(offset)) }
func (f *file) of(n ast.Node) string   { return f.text[f.offset(n.Pos()):f.offset(n.End())] }

func (f *file) lineText(offset int) string {
	from := strings.LastIndexByte(f.text[:offset], '\n') + 1
	line, _, _ := strings.Cut(f.text[from:], "\n")
	return strings.TrimSpace(line)
}

// listed is what go list says about a package.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, TestImports, XTestImports []string
}

// load reads a package of this module and names the one whose tests are asked,
// both by their folders. Generated files are left out.
func load(ctx context.Context, folder, tests string) (*source, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	testDir, err := filepath.Abs(tests)
	if err != nil {
		return nil, err
	}
	out, err := command(ctx, "", "go", "list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,TestImports,XTestImports", "./"+folder, "./"+tests, "os", "strconv")
	if err != nil {
		return nil, fmt.Errorf("go list %s (run it from the root of the module): %w\n%s", folder, err, out)
	}
	s := &source{dir: dir, testDir: testDir, fset: token.NewFileSet(), patience: patience}
	exports := map[string]string{}
	var files []string
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.Dir == s.dir {
			s.path, files = p.ImportPath, p.GoFiles
		}
		if p.Dir == s.testDir {
			s.rapid = slices.Contains(append(p.TestImports, p.XTestImports...), "pgregory.net/rapid")
		}
	}
	s.imports = importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, name := range files {
		f, err := s.read(name)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	return s, nil
}

func (s *source) read(name string) (*file, error) {
	path := filepath.Join(s.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(s.fset, path, string(text))
}

func parse(fset *token.FileSet, path, text string) (*file, error) {
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &file{name: filepath.Base(path), path: path, text: text, tree: tree, pos: fset.File(tree.Pos())}, nil
}

// mutants makes all mutants of the package, those with a directive marked.
// They are not yet known to compile.
func (s *source) mutants() ([]*mutant, error) {
	var all []*mutant
	for _, f := range s.files {
		if ast.IsGenerated(f.tree) {
			continue
		}
		made := generate(f)
		if err := markEqual(f, made); err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// directive says about the line that it ends, or else about the next one, that
// mutants of some kinds change nothing there:
//
//	//mutant:equal operator,number=2 it is never reached
//
// With = it speaks only of the mutant that puts this number or operator there.
const directive = "//mutant:equal "

func markEqual(f *file, made []*mutant) error {
	for _, group := range f.tree.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, strings.TrimSpace(directive)) {
				continue
			}
			offset := f.offset(c.Pos())
			line := f.line(offset)
			where := fmt.Sprintf("%s:%d", f.name, line)
			names, why, ok := strings.Cut(strings.TrimPrefix(c.Text, directive), " ")
			if !ok || strings.TrimSpace(why) == "" {
				return fmt.Errorf("%s: the directive is %skind,kind=put why", where, directive)
			}
			if f.lineText(offset) == c.Text {
				line++
			}
			for name := range strings.SplitSeq(names, ",") {
				kind, put, one := strings.Cut(name, "=")
				if !slices.Contains(kinds, kind) {
					return fmt.Errorf("%s: no kind of mutant is called %q; there are %s", where, kind, strings.Join(kinds, ", "))
				}
				found := false
				for _, m := range made {
					if m.kind == kind && m.line() == line && (!one || m.put == put) {
						m.equal, found = why, true
					}
				}
				if !found {
					return fmt.Errorf("%s: the directive speaks of line %d, which has no mutant of kind %s: move it or take it away",
						where, line, name)
				}
			}
		}
	}
	return nil
}

// span is where a mutant's text lies in a file that holds many.
type span struct {
	from, to int
	of       *mutant
}

// switchFile holds the number of the mutant that is on. The environment of the
// test names it; 0 is the clean code.
const (
	switchFile = "mutant_that_is_on.go"
	switchEnv  = "COMPANY_MUTANT"
	switchText = `package %s

import (
	"os"
	"strconv"
)

var mutantThatIsOn, _ = strconv.Atoi(os.Getenv("` + switchEnv + `"))
`
)

// weaveMutants writes a file with its mutants: each function begins with a switch that
// holds one whole changed body per mutant. One build then serves them all.
func (f *file) weaveMutants(numbers map[*mutant]int) (string, []span) {
	var b strings.Builder
	var spans []span
	done := 0
	for _, d := range f.tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		var own []*mutant
		for m := range numbers {
			if m.fn == fn {
				own = append(own, m)
			}
		}
		if len(own) == 0 {
			continue
		}
		slices.SortFunc(own, func(a, b *mutant) int { return numbers[a] - numbers[b] })
		from, to := f.offset(fn.Body.Lbrace)+1, f.offset(fn.Body.Rbrace)
		results := ""
		if fn.Type.Results != nil {
			results = f.of(fn.Type.Results)
		}
		b.WriteString(f.text[done:from] + "\nswitch mutantThatIsOn {\n")
		for _, m := range own {
			fmt.Fprintf(&b, "case %d:\n", numbers[m])
			start := b.Len()
			body := "func() " + results + " {" + f.text[from:m.start] + m.put + f.text[m.end:to] + "}()\n"
			if results == "" {
				b.WriteString(body + "return\n")
			} else {
				b.WriteString("return " + body)
			}
			spans = append(spans, span{start, b.Len(), m})
		}
		b.WriteString("}\n")
		done = from
	}
	b.WriteString(f.text[done:])
	return b.String(), spans
}

// numberMutants gives each mutant its number, from 1.
func numberMutants(list []*mutant) map[*mutant]int {
	numbers := map[*mutant]int{}
	for i, m := range list {
		numbers[m] = i + 1
	}
	return numbers
}

// keepCompiling returns those mutants that the type checker lets pass. All are
// checked at once: an error lies in the body of the mutant that makes it.
func (s *source) keepCompiling(list []*mutant) ([]*mutant, error) {
	numbers := numberMutants(list)
	fset := token.NewFileSet()
	spans := map[string][]span{}
	var trees []*ast.File
	add := func(name, text string) error {
		tree, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		trees = append(trees, tree)
		return err
	}
	for _, f := range s.files {
		text, places := f.weaveMutants(numbers)
		spans[f.path] = places
		if err := add(f.path, text); err != nil {
			return nil, err
		}
	}
	if err := add(switchFile, fmt.Sprintf(switchText, s.files[0].tree.Name)); err != nil {
		return nil, err
	}
	broken := map[*mutant]bool{}
	var other error
	conf := types.Config{Importer: s.imports, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			other = err
			return
		}
		at := fset.Position(e.Pos)
		for _, p := range spans[at.Filename] {
			if p.from <= at.Offset && at.Offset < p.to {
				broken[p.of] = true
				return
			}
		}
		// What follows from a mutant's error, outside of it, has an error within.
		other = err
	}}
	if _, err := conf.Check(s.path, fset, trees, nil); err == nil {
		return list, nil
	}
	if other != nil {
		return nil, fmt.Errorf("the clean package does not compile: %w", other)
	}
	return slices.DeleteFunc(slices.Clone(list), func(m *mutant) bool { return broken[m] }), nil
}

// build compiles the package's tests with mutants laid over them. The checkout
// is not touched.
func (s *source) build(ctx context.Context, dir, bin string, list []*mutant) error {
	numbers := numberMutants(list)
	replace := map[string]string{}
	lay := func(path, text string) error {
		at := filepath.Join(dir, filepath.Base(path))
		replace[path] = at
		return os.WriteFile(at, []byte(text), 0o600)
	}
	for _, f := range s.files {
		text, spans := f.weaveMutants(numbers)
		if len(spans) == 0 {
			continue
		}
		if err := lay(f.path, text); err != nil {
			return err
		}
	}
	if err := lay(filepath.Join(s.dir, switchFile), fmt.Sprintf(switchText, s.files[0].tree.Name)); err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		return err
	}
	if out, err := command(ctx, s.testDir, "go", "test", "-c", "-vet=off", "-o", bin, "-overlay", overlay,
		"."); err != nil {
		return fmt.Errorf("mutants that the type checker lets pass do not build: %w\n%s", err, bytes.TrimSpace([]byte(out)))
	}
	return nil
}
