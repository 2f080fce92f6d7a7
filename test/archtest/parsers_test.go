package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recursiveParsers are packages of others that parse by calling themselves without a bound of
// their own: a text that nests deeply enough ends the process, and no recover helps. The names
// are the functions that parse, or the packages as a whole where there are none.
var recursiveParsers = map[string][]string{
	"mvdan.cc/sh/v3/syntax": {"NewParser"},
	"mvdan.cc/sh/v3/shell":  nil,
	"mvdan.cc/sh/v3/expand": nil,
	"mvdan.cc/sh/v3/interp": nil,
	"github.com/goccy/go-yaml": {"Unmarshal", "UnmarshalContext", "UnmarshalWithOptions",
		"NewDecoder", "NodeToValue", "YAMLToJSON", "JSONToYAML", "PathString"},
	"github.com/goccy/go-yaml/parser":                     nil,
	"github.com/goccy/go-yaml/lexer":                      nil,
	"github.com/goccy/go-yaml/scanner":                    nil,
	"github.com/BurntSushi/toml":                          nil,
	"github.com/moby/buildkit/frontend/dockerfile/parser": {"Parse"},
	"github.com/moby/buildkit/frontend/dockerfile/shell":  nil,
	"github.com/tidwall/gjson":                            nil,
}

// judgedParsers are packages of parsers that need no bound of ours, and why. What a new one does
// with a hundred thousand brackets, and with twice the text, has to be known before it is used.
var judgedParsers = map[string]string{
	"encoding/json":                  "10,000 levels",
	"encoding/xml":                   "10,000 levels",
	"go/parser":                      "100,000 levels",
	"go/build/constraint":            "1,000 signs",
	"text/template":                  "10,000 parentheses",
	"go/scanner":                     "a loop",
	"regexp/syntax":                  "1,000 levels, of rules of our own",
	"golang.org/x/mod/modfile":       "blocks do not nest",
	"html":                           "escapes alone",
	"github.com/goccy/go-yaml/ast":   "trees that boundedparse has made",
	"github.com/goccy/go-yaml/token": "tokens that boundedparse has read",
	"github.com/google/jsonschema-go/jsonschema": "schemas of our own",
	"github.com/modelcontextprotocol/go-sdk/jsonrpc": "messages of the president's own client, by " +
		"encoding/json",
	"github.com/moby/buildkit/frontend/dockerfile/instructions": "lines that boundedparse has read",
}

// parserName matches packages that parse a language, by their names.
var parserName = regexp.MustCompile(
	`(?i)yaml|toml|xml|json|html|markdown|goldmark|blackfriday|hcl|/ini|/csv|/gob|asn1|pars|lex|syntax|scan|template|jq|cel-go|expr|query|modfile|dockerfile|constraint|graphql|protobuf`)

// TestParsersAreJudged refuses a parser that is on neither list.
func TestParsersAreJudged(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "company/internal/") && !strings.HasPrefix(p.ImportPath, "company/cmd/") {
			continue
		}
		for _, path := range p.Imports {
			_, recursive := recursiveParsers[path]
			_, judged := judgedParsers[path]
			if used[path] = true; parserName.MatchString(path) && !strings.HasPrefix(path, "company/") && !recursive && !judged {
				t.Errorf("%s imports %s: find out how it nests, and put it on one of the lists", p.ImportPath, path)
			}
		}
	}
	for path := range judgedParsers {
		if !used[path] {
			t.Errorf("%s is not used any more: take it off the list", path)
		}
	}
}

// TestRecursiveParsersAreBounded holds all calls of such parsers to internal/lib/boundedparse, which
// checks the text first.
func TestRecursiveParsersAreBounded(t *testing.T) {
	const room = "company/internal/lib/boundedparse"
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

// A call is found by whatever name its package goes.
func TestParserCallsAreFound(t *testing.T) {
	for body, want := range map[string]string{
		`import "github.com/goccy/go-yaml"; var _ = yaml.Unmarshal`:                       "yaml.Unmarshal",
		`import y "github.com/goccy/go-yaml"; var _ = y.NewDecoder(nil)`:                  "y.NewDecoder",
		`import . "github.com/goccy/go-yaml"; var _ = Unmarshal`:                          "github.com/goccy/go-yaml without its name",
		`import _ "github.com/BurntSushi/toml"`:                                           "github.com/BurntSushi/toml",
		`import "github.com/goccy/go-yaml"; var _ = yaml.Marshal`:                         "",
		`import p "github.com/moby/buildkit/frontend/dockerfile/parser"; var _ = p.Parse`: "p.Parse",
	} {
		file := filepath.Join(t.TempDir(), "x.go")
		if err := os.WriteFile(file, []byte("package x\n"+body+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(parserCalls(t, file), " "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
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
		if ok && name == "." {
			out = append(out, path+" without its name")
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
