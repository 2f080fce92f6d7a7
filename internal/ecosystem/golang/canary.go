package golang

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/shell"
)

// plantGo is a failing test in a package.
const plantGo = "go"

// Plants are the ways in which a failing test is put beside a change.
func (Ecosystem) Plants() []string { return []string{plantGo} }

// IsTestFile says whether a file, by its name, holds tests of its folder.
func (Ecosystem) IsTestFile(name string) bool { return isTestFile(name) }

func isTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// PackageOf is the package in the name of a test, or of a package that does not
// build.
func (Ecosystem) PackageOf(test string) string {
	pkg, _, _ := strings.Cut(test, " ")
	return pkg
}

// CanaryPlaces are the packages that the change touches; where it only touches what
// steers the gate, one package that has tests.
func (Ecosystem) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	dark := map[string]bool{}
	dirs := slices.DeleteFunc(c.TouchedFolders(gate, ".go"), func(dir string) bool {
		module, ok := c.NearestWith(dir, "go.mod")
		if !ok || module == gate.Dir || !ecosystem.IsUnder(module, gate.Dir) {
			return false
		}
		// A module that the change makes takes its old files out of the gate;
		// for its new files the gate promises nothing.
		own := c.Added[path.Join(module, "go.mod")]
		dark[dir] = own && !hasOldFile(c, dir)
		return !own
	})
	if len(dirs) == 0 && c.TouchesGateFiles(gate) {
		dirs = c.FirstFolderOf(gate, isTestFile)
	}
	build := goBuildOf(gate)
	folders := build.readFolders(c.Tree, c.Changed, dirs)
	emptied := build.emptiedFolders(c, folders)
	for _, dir := range dirs {
		if emptied[dir] {
			out = append(out, ecosystem.CanaryPlace{Dir: dir, Hollow: true})
			continue
		}
		pkg := folders[dir].pkg
		if folders[dir].built == 0 || pkg == "" {
			continue
		}
		out = append(out, ecosystem.CanaryPlace{
			Dir:         dir,
			Unreachable: dark[dir],
			Path:        func(word string) string { return path.Join(dir, word+"_test.go") },
			// It asks for itself alone from within: a suite that looks at its
			// flags before they are parsed sees those of the gate.
			Text: func(word string) string {
				return fmt.Sprintf("package %s\n\nimport (\n\tos%[2]s \"os\"\n\ttesting%[2]s \"testing\"\n)\n\nfunc init() { os%[2]s.Args = append(os%[2]s.Args, \"-test.run=^Test_%[2]s$\") }\n\nfunc Test_%[2]s(t *testing%[2]s.T) { t.Fatal(\"this test of the company's must fail\") }\n", pkg, word)
			},
		})
	}
	return out, omittedFiles(folders)
}

// hasOldFile says whether a folder has a Go file that the base had.
func hasOldFile(c *ecosystem.Change, dir string) bool {
	return slices.ContainsFunc(c.Dirs[dir], func(n string) bool { return path.Ext(n) == ".go" && !c.Added[path.Join(dir, n)] })
}

// emptiedFolders are the folders of which a gate built something on the base, and of
// which it builds nothing any more, though Go files lie there: a build
// constraint takes a folder out of the gate as a line in go.mod does.
func (b goBuild) emptiedFolders(c *ecosystem.Change, folders map[string]*goFolder) map[string]bool {
	var dirs []string
	for dir, f := range folders {
		if f.built == 0 {
			dirs = append(dirs, dir)
		}
	}
	out := map[string]bool{}
	if len(dirs) == 0 {
		return out
	}
	for dir, f := range b.readFolders(c.Base(), nil, dirs) {
		out[dir] = f.built > 0
	}
	return out
}

// FolderCommand runs a go test command on those of these folders that its patterns
// mean: what go.mod or a tag leaves out stays out. The command has a line for
// each: go list, and go test.
func (Ecosystem) FolderCommand(commands string, folders []string) string {
	list, test, _ := strings.Cut(commands, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "all=$(%s 2>/dev/null)\nset --\n", list)
	for _, f := range folders {
		full := `"$PWD"`
		if f != "." {
			full = `"$PWD"/` + shell.QuoteArgument(strings.TrimPrefix(f, "./"))
		}
		fmt.Fprintf(&b, "if printf '%%s\\n' \"$all\" | grep -qxF -- %s; then set -- \"$@\" %s; fi\n", full, shell.QuoteArgument(f))
	}
	b.WriteString("test $# -gt 0 || exit 0\n" + test + ` "$@"`)
	return b.String()
}

// RestCommand is go test on these packages without some tests, one behind the other. A
// test that shares its name with one of another package is left out with it.
func (Ecosystem) RestCommand(commands string, without, packages []string) string {
	_, test, _ := strings.Cut(commands, "\n")
	var names []string
	for _, t := range without {
		if _, name, ok := strings.Cut(t, " "); ok && !strings.HasPrefix(name, "(") { // else it is the package itself that fails
			root, _, _ := strings.Cut(name, "/")
			names = append(names, regexp.QuoteMeta(root))
		}
	}
	slices.Sort(names)
	for _, p := range packages {
		test += " " + shell.QuoteArgument(p)
	}
	test += " -failfast=false -parallel=1"
	if len(names) > 0 {
		test += " -skip=" + shell.QuoteArgument("^(?:"+strings.Join(slices.Compact(names), "|")+")$")
	}
	return test
}
