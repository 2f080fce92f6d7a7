package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recursiveParsers are packages of others that parse by calling themselves without a bound of
// their own: a text that nests deeply enough ends the process, and no recover helps. The names
// are the functions that parse, or the packages as a whole where there are none.
var recursiveParsers = map[string][]string{
	"mvdan.cc/sh/v3/syntax":                               {"NewParser"},
	"mvdan.cc/sh/v3/shell":                                nil,
	"mvdan.cc/sh/v3/expand":                               nil,
	"mvdan.cc/sh/v3/interp":                               nil,
	"github.com/goccy/go-yaml":                            {"Unmarshal", "UnmarshalContext", "UnmarshalWithOptions", "NewDecoder", "NodeToValue", "YAMLToJSON", "JSONToYAML", "PathString"},
	"github.com/goccy/go-yaml/parser":                     nil,
	"github.com/goccy/go-yaml/lexer":                      nil,
	"github.com/goccy/go-yaml/scanner":                    nil,
	"github.com/BurntSushi/toml":                          nil,
	"github.com/itchyny/gojq":                             {"Parse", "Compile", "Marshal", "Preview", "Compare"},
	"github.com/moby/buildkit/frontend/dockerfile/parser": {"Parse"},
	"github.com/moby/buildkit/frontend/dockerfile/shell":  nil,
	"github.com/tidwall/gjson":                            nil,
}

// TestRecursiveParsersAreBounded holds all calls of such parsers to internal/boundedparse, which
// checks the text first.
func TestRecursiveParsersAreBounded(t *testing.T) {
	const room = "company/internal/boundedparse"
	inside := 0
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "company/internal/") && !strings.HasPrefix(p.ImportPath, "company/cmd/") {
			continue
		}
		for _, f := range p.GoFiles {
			for _, call := range parserCalls(t, filepath.Join(p.Dir, f)) {
				if strings.HasPrefix(p.ImportPath, room+"/") {
					inside++
					continue
				}
				t.Errorf("%s/%s: %s nests without a bound on the text of others: call %s", p.ImportPath, f, call, room)
			}
		}
	}
	if inside < 5 {
		t.Errorf("only %d calls were found in %s", inside, room)
	}
}

// parserCalls are the uses of recursiveParsers in a file.
func parserCalls(t *testing.T, file string) (out []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	banned := map[string][]string{} // by the name of the import
	for _, imp := range tree.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names, ok := recursiveParsers[path]
		if ok && names == nil {
			out = append(out, path)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if path == "github.com/goccy/go-yaml" {
			name = "yaml"
		}
		if imp.Name != nil {
			name = imp.Name.Name
		}
		if ok {
			banned[name] = names
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(banned[x.Name], s.Sel.Name) {
				out = append(out, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return out
}
