package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"company/internal/office/config"
)

// environmentReaders are the files in which the program takes its environment; each
// other one is given what it needs. The number is of the places in it.
var environmentReaders = map[string]int{
	"internal/surface/cli/root.go":                  2, // the environment of every command
	"internal/surface/diagnose/packages.go":         1, // where the list of trusted files is
	"internal/ecosystem/depproxy/clientsettings.go": 2, // settings of npm, pip, cargo and go, and those programs
	"internal/gitops/source.go":                     1, // who runs sudo
	"internal/container/image/base.go":              3, // proxies and certificates of mmdebstrap, and of apt
	"internal/container/image/hostfetch.go":         1, // the same of the go command
	"internal/container/image/hosttree.go":          1, // programs that say where a toolchain lies
	"internal/app/startup/startup.go":               1, // the pace of the runtime, before main
	"internal/container/dockerapi/client.go":        1, // where Docker's own client finds its daemon
	"internal/lib/killpoint/killpoint.go":           1, // where a test stops the process
	"internal/toolbox/toolserver/gate.go":           1, // in a container: what the gate was given
	"internal/toolbox/toolserver/server.go":         1, // in a container
	"cmd/toolbox/main.go":                           1, // in a container
}

// variableRE is what a variable of the environment is called.
var variableRE = regexp.MustCompile(`^([A-Z][A-Z0-9]*_)*[A-Z][A-Z0-9]+$|^npm_config_`)

// ofContainers are the variables that the toolbox and the programs in containers get
// from us: they are no setting.
var ofContainers = regexp.MustCompile(
	`^internal/(toolbox/toolserver|toolbox/toolproto|agentrun/sandbox|container|gates|agentrun/agenttools)/`)

// measures start this program with the environment that they find.
var measures = regexp.MustCompile(`^tools/benchwork/`)

// notShipped are packages that no program of a release contains.
var notShipped = regexp.MustCompile(`^company/(test/|tools/|internal/lib/hosttest)`)

// TestEnvironmentIsListed holds the code to config.Variables: a variable that is
// read is listed, and the environment is taken in few places.
func TestEnvironmentIsListed(t *testing.T) {
	listed := func(name string) bool {
		return slices.ContainsFunc(config.Variables(), func(v config.Variable) bool {
			start, open := strings.CutSuffix(v.Name, "*")
			return v.Name == name || strings.ToUpper(name) == v.Name || open && strings.HasPrefix(name, start) ||
				open && strings.EqualFold(start, name[:min(len(start), len(name))])
		})
	}
	found, asked := map[string]int{}, 0
	dir := root(t)
	for _, p := range packages(t) {
		if isForTests(p.ImportPath) || notShipped.MatchString(p.ImportPath) {
			continue
		}
		for _, f := range p.GoFiles {
			rel, _ := filepath.Rel(dir, filepath.Join(p.Dir, f))
			tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" &&
						slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"}, n.Sel.Name) {
						found[rel]++
					}
				case *ast.CallExpr:
					for _, name := range askedVariables(n) {
						asked++
						if !listed(name) && !ofContainers.MatchString(rel) {
							t.Errorf("%s reads %s, which internal/office/config/variable.go does not list", rel, name)
						}
					}
				}
				return true
			})
		}
	}
	for file, n := range found {
		if environmentReaders[file] != n && !measures.MatchString(file) {
			t.Errorf("%s takes the environment in %d places, and %d are known here: let the caller hand it in", file, n,
				environmentReaders[file])
		}
	}
	if asked < 20 {
		t.Errorf("only %d reads of variables were found", asked)
	}
}

// askedVariables are the variables that a call asks for by a function that looks one
// up, such as env("HOME").
func askedVariables(call *ast.CallExpr) (names []string) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if !slices.Contains([]string{"env", "getenv", "lookup", "lookupenv", "envvalue", "firstenv"}, strings.ToLower(name)) {
		return nil
	}
	for _, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && variableRE.MatchString(text) {
			names = append(names, text)
		}
	}
	return names
}
