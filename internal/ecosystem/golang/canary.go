package golang

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/shellquote"
)

// plantGo plants a failing test in a package.
const plantGo = "go"

// Plants lists the ways to plant a failing test.
func (Ecosystem) Plants() []string { return []string{plantGo} }

// IsTestFile reports whether a file name is one of a test file.
func (Ecosystem) IsTestFile(name string) bool { return isTestFile(name) }

func isTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// PackageOf returns the package in the name of a test or of a package that does not build.
func (Ecosystem) PackageOf(test string) string {
	pkg, _, _ := strings.Cut(test, " ")
	return pkg
}

// CanaryPlaces returns the packages that the change touches. If it touches only files that configure the gate, it
// returns one package with tests.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	dark := map[string]bool{}
	dirs := slices.DeleteFunc(change.TouchedFolders(gate, ".go"), func(dir string) bool {
		module, ok := change.NearestWith(dir, "go.mod")
		if !ok || module == gate.Dir || !ecosystem.IsUnder(module, gate.Dir) {
			return false
		}
		// A new module in the change takes its old files out of the gate. The gate does not cover its new files.
		own := change.Added[path.Join(module, "go.mod")]
		dark[dir] = own && !hasOldFile(change, dir)
		return !own
	})
	if len(dirs) == 0 && change.TouchesGateFiles(gate) {
		dirs = change.FirstFolderOf(gate, isTestFile)
	}
	build := goBuildOf(gate)
	folders := build.readFolders(change.Tree, change.Changed, dirs)
	emptied := build.emptiedFolders(change, folders)
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
			// The test restricts the run to itself. A suite that reads its flags before they are parsed still sees those of
			// the gate.
			Text: func(word string) string {
				return fmt.Sprintf("package %s\n\nimport (\n\tos%[2]s \"os\"\n\ttesting%[2]s \"testing\"\n)\n\nfunc init() { "+
					"os%[2]s.Args = append(os%[2]s.Args, \"-test.run=^Test_%[2]s$\") }\n\nfunc Test_%[2]s(t *testing%[2]s.T) { "+
					"t.Fatal(\"this test of the company's must fail\") }\n", pkg, word)
			},
		})
	}
	return out, omittedFiles(folders)
}

// hasOldFile reports whether a folder has a Go file that the base had.
func hasOldFile(change *ecosystem.Change, dir string) bool {
	return slices.ContainsFunc(change.Dirs[dir],
		func(n string) bool { return path.Ext(n) == ".go" && !change.Added[path.Join(dir, n)] })
}

// emptiedFolders returns the folders with Go files of which the gate built some on the base and now builds none. A
// build constraint can take a folder out of the gate, just as a line in go.mod can.
func (b goBuild) emptiedFolders(change *ecosystem.Change, folders map[string]*goFolder) map[string]bool {
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
	for dir, f := range b.readFolders(change.Base(), nil, dirs) {
		out[dir] = f.built > 0
	}
	return out
}

// FolderCommand returns a command that runs go test on those of these folders that match the gate's patterns. Folders
// that go.mod or a tag excludes stay excluded. commands has two lines: go list and go test.
func (Ecosystem) FolderCommand(commands string, folders []string) string {
	list, test, _ := strings.Cut(commands, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "all=$(%s 2>/dev/null)\nset --\n", list)
	for _, f := range folders {
		full := `"$PWD"`
		if f != "." {
			full = `"$PWD"/` + shellquote.QuoteArgument(strings.TrimPrefix(f, "./"))
		}
		fmt.Fprintf(&b, "if printf '%%s\\n' \"$all\" | grep -qxF -- %s; then set -- \"$@\" %s; fi\n", full,
			shellquote.QuoteArgument(f))
	}
	b.WriteString("test $# -gt 0 || exit 0\n" + test + ` "$@"`)
	return b.String()
}

// RestCommand returns a go test command for these packages without some tests. It runs tests one at a time. Tests
// with the same name in other packages are skipped, too.
func (Ecosystem) RestCommand(commands string, without, packages []string) string {
	_, test, _ := strings.Cut(commands, "\n")
	var names []string
	for _, t := range without {
		if _, name, ok := strings.Cut(t, " "); ok && !strings.HasPrefix(name, "(") {
			// otherwise the package itself fails
			root, _, _ := strings.Cut(name, "/")
			names = append(names, regexp.QuoteMeta(root))
		}
	}
	slices.Sort(names)
	for _, p := range packages {
		test += " " + shellquote.QuoteArgument(p)
	}
	test += " -failfast=false -parallel=1"
	if len(names) > 0 {
		test += " -skip=" + shellquote.QuoteArgument("^(?:"+strings.Join(slices.Compact(names), "|")+")$")
	}
	return test
}
