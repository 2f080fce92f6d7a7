// Package archtest holds the house to its plan: which room may import which, that
// drivers are known to the wiring alone, that every package says what it is
// for, and that nothing in the text ties the project to one machine.
package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// families are the rooms whose parts are drivers. What their drivers share is in shared.
var (
	families = []string{"adapters", "bus", "container", "forge"}
	shared   = strings.Fields(`adapters/exchange bus/localfiles
		container/dockerapi container/dockerfile container/image container/image/toolboxbin container/service`)
)

// driverUsers are the other packages that import drivers: which, and why.
var driverUsers = map[string]struct {
	drivers []string
	why     string
}{
	"internal/adapters/scripted": {[]string{"adapters/openai"},
		"a script is played over the wire of the OpenAI protocol, so that its calls take the way of real ones"},
	"internal/adapters/scriptedtest": {[]string{"adapters/scripted"},
		"it adds the wires of other drivers to that server, for tests"},
}

type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
	Module     *struct{ Path string }
}

func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d packages were found", len(all))
	}
	return all
}

// listPackages asks the go command once for all tests.
var listPackages = sync.OnceValues(func() ([]pkg, error) {
	dir, err := findRoot()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles,Module", "./...")
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, errs.String())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

func root(t *testing.T) string {
	t.Helper()
	dir, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	return filepath.Dir(filepath.Dir(dir)), err
}

// aboutEcosystems are the folders beside the ecosystems that are none: they list, serve or read what
// all of them have.
var aboutEcosystems = []string{"catalog", "checkfinder", "ciconfig", "depproxy", "ecosystemtest", "testreport"}

// An ecosystem is text in and data out, and is known to the catalog alone.
func TestEcosystemsAreData(t *testing.T) {
	const rooms = "company/internal/ecosystem"
	banned := []string{"os", "net", "net/http", "os/exec", "syscall", rooms + "/catalog"}
	one := func(path string) bool {
		name, below := strings.CutPrefix(path, rooms+"/")
		return below && !slices.Contains(aboutEcosystems, name)
	}
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			switch {
			case one(p.ImportPath) && slices.Contains(banned, imp):
				t.Errorf("%s imports %s: an ecosystem reaches nothing", p.ImportPath, imp)
			case one(imp) && !strings.HasPrefix(p.ImportPath, rooms+"/"):
				t.Errorf("%s imports %s: ecosystems are reached through the catalog", p.ImportPath, imp)
			}
		}
	}
}

// nameless are the rooms that ask the ecosystems, and words that their code does not
// hold: depproxy has the cache, the policy and the connections for all registries,
// gates run checks and judge, toolserver starts what it is given. Comments may name one.
var nameless = map[string]*regexp.Regexp{
	"ecosystem/depproxy": regexp.MustCompile(
		`(?i)npm|pypi|crate|cargo|debian|yarn|rubygems|packagist|composer|maven|gradle|cmake|meson|goproxy|gosum|sumdb|goprivate|\b(pip|apt)\b|^"go"$|^ecosystem\.go$`),
	"gates": regexp.MustCompile(
		`(?i)npm|\b(golang|gofmt|go (test|vet|list|build)|go\.(mod|sum|work)|node|npx|yarn|jest|vitest|mocha|ava|tap|python[23]?|pytest|unittest|pip|cargo|rustc?|crates?|make: |makefiles?|ruff|flake8|eslint|ruby|gemfile|bundler?|rspec|rake|minitest|rubocop|php|phpunit|composer|maven|mvn|gradlew?|java|junit|surefire|cmake|ctest|meson|ninja|autoconf|automake)\b|^"go"$`),
	"toolbox/toolserver": regexp.MustCompile(
		`(?i)\b(postgres(ql)?|mysqld?|mariadbd?|redis|mongod|nginx|uvicorn|gunicorn|webpack|vite|flask|rails)\b`),
}

func TestRoomsNameNoEcosystem(t *testing.T) {
	for room, single := range nameless {
		files, err := filepath.Glob(filepath.Join(root(t), "internal", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				word := ""
				switch n := n.(type) {
				case *ast.Ident:
					word = n.Name
				case *ast.BasicLit:
					word = n.Value
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok {
						word = x.Name + "." + n.Sel.Name
					}
				}
				if single.MatchString(word) {
					t.Errorf("%s/%s names an ecosystem: %s", room, filepath.Base(file), word)
				}
				return true
			})
		}
	}
}

func TestTheDomainIsPure(t *testing.T) {
	pure := []string{"company/internal/company", "company/internal/company/historytest", "company/internal/company/glob",
		"company/internal/company/jcs"}
	found := 0
	banned := []string{"os", "net", "net/http", "io/fs", "time/tzdata", "math/rand", "math/rand/v2", "crypto/rand",
		"os/exec", "sync", "syscall"}
	for _, p := range packages(t) {
		if !slices.Contains(pure, p.ImportPath) {
			continue
		}
		found++
		for _, imp := range p.Imports {
			if strings.Contains(strings.Split(imp, "/")[0], ".") ||
				strings.HasPrefix(imp, "company/") && !slices.Contains(pure, imp) || slices.Contains(banned, imp) {
				t.Errorf("%s imports %s: the domain is pure", p.ImportPath, imp)
			}
		}
		for _, f := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte("time.Now(")) || bytes.Contains(text, []byte("time.Since(")) {
				t.Errorf("%s looks at a clock", f)
			}
		}
	}
	if found != len(pure) {
		t.Errorf("%d of the domain's packages %v were found", found, pure)
	}
}

// A driver is known to the wiring alone, and to no other driver. Commands are held to
// it, too.
func TestOnlyTheWiringKnowsDrivers(t *testing.T) {
	dir, used := root(t), map[string]bool{}
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, "company/")
		if !strings.HasPrefix(from, "internal/") && !strings.HasPrefix(from, "cmd/") {
			continue
		}
		for _, f := range p.GoFiles {
			file := filepath.Join(p.Dir, f)
			if rel, _ := filepath.Rel(dir, file); rel == "internal/app/drivers.go" {
				continue
			}
			ast, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range ast.Imports {
				driver := driverOf(strings.Trim(imp.Path.Value, `"`))
				switch {
				case driver == "" || driver == driverOf(p.ImportPath):
				case slices.Contains(driverUsers[from].drivers, driver):
					used[from+" "+driver] = true
				default:
					t.Errorf("%s imports the driver %s; only internal/app/drivers.go does", file, driver)
				}
			}
		}
	}
	for from, user := range driverUsers {
		for _, driver := range user.drivers {
			if !used[from+" "+driver] {
				t.Errorf("%s does not import %s any more: take it off the list", from, driver)
			}
		}
		if user.why == "" {
			t.Errorf("%s has no reason to know drivers", from)
		}
	}
}

// driverOf returns the driver that a package belongs to, such as forge/github. It returns "" for other packages.
func driverOf(path string) string {
	name := strings.TrimPrefix(path, "company/internal/")
	family, rest, ok := strings.Cut(name, "/")
	if !ok || name == path || !slices.Contains(families, family) || isForTests(name) || slices.Contains(shared, name) {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	if slices.Contains(shared, family+"/"+first) {
		return ""
	}
	return family + "/" + first
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		doc := ""
		for _, f := range p.GoFiles {
			ast, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil,
				parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if ast.Doc != nil {
				doc += ast.Doc.Text()
			}
		}
		if len(p.GoFiles) > 0 && len(strings.Fields(doc)) < 5 {
			t.Errorf("%s has no doc comment", p.ImportPath)
		}
	}
}

func TestNoRoomIsCalledNothing(t *testing.T) {
	for _, p := range packages(t) {
		switch filepath.Base(p.ImportPath) {
		case "util", "utils", "common", "helpers", "types", "misc":
			t.Errorf("%s: the name says nothing", p.ImportPath)
		}
	}
}

// aliases: an SDK whose package name is also one of ours is imported under its
// own name, so that a reader knows which is meant.
func TestSDKsAreImportedUnderTheirOwnNames(t *testing.T) {
	clash := map[string]bool{
		"github.com/docker/docker/api/types/container": true,
		"github.com/docker/docker/api/types/image":     true,
		"github.com/nats-io/nats.go":                   true,
	}
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			ast, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range ast.Imports {
				if clash[strings.Trim(imp.Path.Value, `"`)] && imp.Name == nil {
					t.Errorf("%s/%s imports %s without an alias", p.ImportPath, f, imp.Path.Value)
				}
			}
		}
	}
}

func TestTextIsOfNoMachine(t *testing.T) {
	// --issue is a flag
	bad := regexp.MustCompile(`/(work|farm)/(main|steering|shared|in)\b|proxy\.golang\.org/|(^|[^-a-z])issue #?[0-9]+\b`)
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if name == "test/archtest/rules_test.go" || name == "go.sum" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root(t), name))
		if bytes.HasPrefix(text, []byte("\x7fELF")) {
			t.Errorf("%s is a program that somebody built", name)
		}
		if err != nil || len(text) > 1<<20 || bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if m := bad.FindString(line); m != "" {
				t.Errorf("%s:%d says %q", name, i+1, m)
			}
		}
	}
}

// TestKindsOfForgesAreNamedByTheirDrivers: only the folder of a forge names its kind. So a new forge needs only its
// folder and a line in the wiring.
func TestKindsOfForgesAreNamedByTheirDrivers(t *testing.T) {
	var kinds []string
	for name, text := range trackedFiles(t, ".go") {
		if kind := forgeKindRE.FindStringSubmatch(text); kind != nil && strings.HasPrefix(name, "internal/forge/") {
			kinds = append(kinds, kind[1])
		}
	}
	if len(kinds) < 2 {
		t.Fatalf("only the kinds %v were found", kinds)
	}
	for name, text := range trackedFiles(t, ".go") {
		if !strings.HasPrefix(name, "internal/") || strings.HasSuffix(name, "_test.go") || isForTests(filepath.Dir(name)) {
			continue
		}
		for _, kind := range kinds {
			if strings.Contains(text, `"`+kind+`"`) && !strings.HasPrefix(name, "internal/forge/"+kind+"/") {
				t.Errorf("%s names the forge %q", name, kind)
			}
		}
	}
}

var forgeKindRE = regexp.MustCompile(`(?m)^const kind = "([a-z]+)"$`)
