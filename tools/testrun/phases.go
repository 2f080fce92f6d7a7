package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// phase is one part of a run of the tests.
type phase struct {
	name     string
	about    string
	needs    [][]string // run first, in this order; the rest of the phase does not run if one fails
	commands [][]string // run then, all of them, whatever fails
	tests    []testSet
	stops    bool // nothing runs after it if it fails
	extra    bool // runs only if -also or -only names it
	strict   bool // its failed tests are not run again
}

// testSet is one call of go test.
type testSet struct {
	packages func(goPackage) bool
	flags    []string
	env      []string
	unraced  bool // only the tests that say hosttest.NotRaced
	inMemory bool // temporary files lie in memory, if the host has room there
}

// repeatFlags are the flags that a test needs when it is run again by itself.
func (s testSet) repeatFlags() []string {
	var flags []string
	for _, flag := range s.flags {
		if flag == "-race" || flag == "-short" {
			flags = append(flags, flag)
		}
	}
	return flags
}

// raced names the packages whose product code has goroutines, channels or locks that meet in memory. Programs that
// only start other programs are not among them: make test/race drives those in one binary that is raced as a whole.
var raced = strings.Fields(`
	internal/adapters internal/adapters/openai internal/agent internal/agent/budget
	internal/agentrun internal/agentrun/gateway internal/agentrun/runfiles internal/agentrun/sandbox
	internal/api internal/bus/file internal/bus/localfiles internal/bus/nats
	internal/ecosystem/depproxy internal/engine/dispatch internal/engine/orchestrator internal/engine/replay
	internal/ledger internal/manager/repomap internal/office internal/present/feed internal/present/termtext
	internal/surface/mcpserver internal/surface/terminalio internal/surface/tui
	internal/toolbox/mux internal/toolbox/toolproto internal/toolbox/toolserver
	internal/upkeep internal/upkeep/notify internal/upkeep/projection
`)

// withDocker names the packages whose tests start containers. Their results, and those of walks, are not kept
// (-count=1): they depend on a daemon and on a program that go test does not know of.
var withDocker = strings.Fields(`
	cmd/toolbox internal/container/docker internal/container/image internal/gates internal/surface/cli
`)

// walks names the packages whose tests run the program as a person does.
var walks = strings.Fields(`test/e2e test/attack test/demo tools/benchwork`)

// buildProgram makes bin/company. The toolbox for other machines is for a release, and takes a minute where nothing is
// cached.
var buildProgram = []string{"make", "--no-print-directory", "build", "TOOLBOX_ARCHS=" + runtime.GOARCH}

// phases is what make test runs. Cheap phases come first, so that a mistake is seen early.
var phases = []phase{
	{
		name: "build", about: "the program", stops: true,
		commands: [][]string{buildProgram},
	},
	{
		name: "rules", about: "format, modules, structure",
		commands: [][]string{
			{"sh", "-c", `found=$(gofmt -l cmd internal test tools) && test -z "$found" || { echo "gofmt -w $found"; exit 1; }`},
			{"go", "mod", "tidy", "-diff"},
		},
		tests: []testSet{{packages: only("test/archtest"), flags: []string{"-short"}}},
	},
	{
		name: "unit", about: "what needs no Docker",
		tests: []testSet{
			{packages: isUnit, flags: []string{"-short", "-p=4"}, inMemory: true},
			{packages: only(raced...), unraced: true, flags: []string{"-short", "-p=4"}, inMemory: true},
		},
	},
	{
		name: "lint", about: "what analyzers find", extra: true,
		commands: [][]string{{"make", "--no-print-directory", "lint"}},
	},
	{
		name: "page", about: "the page of an office", extra: true,
		commands: [][]string{{"make", "--no-print-directory", "page", "page/test"}},
	},
	{
		name: "race", about: "what has goroutines, under the race detector", strict: true,
		tests: []testSet{{
			packages: only(raced...), flags: []string{"-race", "-short", "-p=3"},
			env: []string{"CGO_ENABLED=1"}, inMemory: true,
		}},
	},
	{
		name: "docker", about: "containers, images, gates, the command line",
		needs: [][]string{{"scripts/fetch-images.sh"}},
		tests: []testSet{{packages: only(withDocker...), flags: []string{"-count=1", "-p=4"}}},
	},
	{
		name: "e2e", about: "whole walks of the program",
		needs: [][]string{buildProgram, {"scripts/fetch-images.sh"}},
		tests: []testSet{{
			packages: only(walks...), flags: []string{"-count=1", "-p=3", "-parallel=4"},
			env: []string{"COMPANY_TEST_BINARY=asis"}, inMemory: true,
		}},
	},
	{
		name: "left", about: "no container is left behind, and the tree is clean", extra: true,
		commands: [][]string{{"scripts/left-behind.sh", "check"}},
	},
}

// longPhases is what make test/long runs: every test, those of hosttest.Long included.
var longPhases = []phase{
	{
		name: "build", about: "the program", stops: true,
		commands: [][]string{{"make", "--no-print-directory", "build"}},
	},
	{
		name: "darwin", about: "the type checker for macOS",
		commands: [][]string{{"make", "--no-print-directory", "darwin"}},
	},
	{
		name: "unit", about: "what needs no Docker, every seed and size of it",
		commands: [][]string{
			{"go", "test", "-C", "test/player", "./..."},
			{"go", "test", "-C", "tools/checks", "./..."},
			{"go", "test", "-C", "test/strangers", "-short", "./..."},
		},
		tests: []testSet{
			{packages: isUnit, flags: []string{"-p=4"}, env: longEnv, inMemory: true},
			{packages: only(raced...), unraced: true, flags: []string{"-p=4"}, env: longEnv, inMemory: true},
		},
	},
	{
		name: "race", about: "what has goroutines, under the race detector", strict: true,
		tests: []testSet{{packages: only(raced...), flags: []string{"-race", "-p=3"},
			env: append([]string{"CGO_ENABLED=1"}, longEnv...)}},
	},
	{
		name: "docker", about: "containers, images and gates, with each client and package set",
		needs: [][]string{{"scripts/fetch-images.sh"}},
		tests: []testSet{{packages: only(withDocker...), flags: []string{"-count=1", "-p=2"}, env: longEnv}},
	},
	{
		name: "e2e", about: "every walk of the program",
		needs: [][]string{{"scripts/fetch-images.sh"}},
		tests: []testSet{
			{packages: only("test/e2e"), flags: []string{"-count=1"}, env: longEnv},
			{packages: only("test/attack", "test/demo", "tools/benchwork"), flags: []string{"-count=1", "-p=1"}, env: longEnv},
		},
	},
}

var longEnv = []string{"COMPANY_TEST_LONG=1"}

// only selects packages by their folders.
func only(dirs ...string) func(goPackage) bool {
	return func(p goPackage) bool { return slices.Contains(dirs, p.dir()) }
}

// isUnit selects every package that no other phase has.
func isUnit(p goPackage) bool {
	elsewhere := slices.Concat(raced, withDocker, walks, []string{"test/archtest"})
	return !slices.Contains(elsewhere, p.dir())
}

// goPackage is a package of this module.
type goPackage struct {
	ImportPath   string
	Dir          string
	TestGoFiles  []string
	XTestGoFiles []string
}

// dir is the package's folder below the module's root, with slashes.
func (p goPackage) dir() string {
	_, dir, _ := strings.Cut(p.ImportPath, "/")
	return path.Clean(dir)
}

// listPackages lists the packages of this module that have tests.
func listPackages(ctx context.Context) ([]goPackage, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		if exit := new(exec.ExitError); asExit(err, &exit) {
			return nil, fmt.Errorf("go list: %w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			all = append(all, p)
		}
	}
	return all, nil
}

// findUnraced finds the tests of packages that say hosttest.NotRaced, which the race phase skips.
func findUnraced(packages []goPackage) (having []goPackage, tests []string, err error) {
	for _, p := range packages {
		before := len(tests)
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, nil, err
			}
			name := ""
			for line := range strings.Lines(string(text)) {
				if after, is := strings.CutPrefix(line, "func "); is {
					name, _, _ = strings.Cut(after, "(")
				} else if strings.Contains(line, "hosttest.NotRaced(t,") {
					tests = append(tests, name)
				}
			}
		}
		if len(tests) > before {
			having = append(having, p)
		}
	}
	return having, tests, nil
}

func selectPackages(all []goPackage, tests testSet) []goPackage {
	var selected []goPackage
	for _, p := range all {
		if tests.packages(p) {
			selected = append(selected, p)
		}
	}
	return selected
}
