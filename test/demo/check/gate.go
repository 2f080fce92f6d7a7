package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gates are what a Go project is judged by, in the order of the numbers in the
// containers' names.
var gates = map[string]string{"0": "go vet ./...", "1": "go build -o /dev/null ./...", "2": "go test ./..."}

// verdict is how a command ended on a tree.
type verdict struct {
	passed bool
	output string
}

// checkout puts a tree into a folder of its own.
func (e *eyes) checkout(ctx context.Context, tree string) (string, error) {
	dir := filepath.Join(e.temp, "tree-"+tree)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	archive := filepath.Join(e.temp, tree+".tar")
	if _, err := e.git(ctx, e.mirror, "archive", "--format=tar", "-o", archive, tree); err != nil {
		return "", err
	}
	_, err := command(ctx, dir, nil, "tar", "-xf", archive)
	return dir, err
}

// tree is the full id of a tree that any name stands for.
func (e *eyes) tree(ctx context.Context, name string) (string, error) {
	return e.git(ctx, e.mirror, "rev-parse", "--verify", name+"^{tree}")
}

// on runs a command on a tree, once.
func (e *eyes) on(ctx context.Context, tree, line string) (verdict, error) {
	key := tree + " " + line
	if v, ok := e.ran[key]; ok {
		return v, nil
	}
	dir, err := e.checkout(ctx, tree)
	if err != nil {
		return verdict{}, err
	}
	v, err := execute(ctx, dir, line)
	if err == nil {
		e.ran[key] = v
	}
	return v, err
}

// execute runs a command line on this machine, without a network's help.
func execute(ctx context.Context, dir, line string) (verdict, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	// Paths are left out of what is built, so that equal packages of two trees
	// are built once.
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return verdict{}, errors.Join(err, context.Cause(ctx))
	}
	return verdict{passed: err == nil, output: strings.TrimSpace(string(out))}, nil
}

// gate: one gate was red; the same command fails here on the tree that it
// judged and passes on the next tree of the same ticket, with the tests of the
// first as well: the work was repaired, not its test.
func (e *eyes) gate(ctx context.Context) (string, error) {
	all := e.of("gate")
	var red *box
	for i, b := range all {
		if b.Exit == "0" {
			continue
		}
		if red != nil {
			return "", fmt.Errorf("two red gates: %s and %s", red.Name, b.Name)
		}
		red = &all[i]
	}
	if red == nil {
		return "", errors.New("no gate was red")
	}
	line := gates[red.GateNumber]
	var green *box
	for i, b := range all {
		if b.Run == red.Run && b.GateNumber == red.GateNumber && b.Started.After(red.Died) && b.Tree != red.Tree {
			green = &all[i]
			break
		}
	}
	if green == nil {
		return "", fmt.Errorf("%s was red, and no later tree of %s was judged", line, red.Run)
	}
	first, err := e.tree(ctx, red.Tree)
	if err != nil {
		return "", err
	}
	second, err := e.tree(ctx, green.Tree)
	if err != nil {
		return "", err
	}
	v1, err := e.on(ctx, first, line)
	if err != nil {
		return "", err
	}
	v2, err := e.on(ctx, second, line)
	if err != nil {
		return "", err
	}
	switch {
	case v1.passed:
		return "", fmt.Errorf("%s was red on the tree %.7s, and passes on it here", line, first)
	case !v2.passed:
		return "", fmt.Errorf("%s fails on the second tree %.7s, too:\n%s", line, second, v2.output)
	}
	v3, err := e.withTestsOf(ctx, second, first, line)
	if err != nil {
		return "", err
	}
	if !v3.passed {
		return "", fmt.Errorf("%s passes on the second tree %.7s by its own tests, not by those of the first: the test was "+
			"changed, not the work\n%s", line, second, v3.output)
	}
	return fmt.Sprintf("%s of %s fails on %.7s and passes on %.7s", line, red.Run, first, second), nil
}

// withTestsOf runs a command on a tree with the test files of another one.
func (e *eyes) withTestsOf(ctx context.Context, tree, tests, line string) (verdict, error) {
	from, err := e.checkout(ctx, tests)
	if err != nil {
		return verdict{}, err
	}
	into, err := e.checkout(ctx, tree)
	if err != nil {
		return verdict{}, err
	}
	mixed, err := os.MkdirTemp(e.temp, "mixed-")
	if err != nil {
		return verdict{}, err
	}
	if err := os.CopyFS(mixed, os.DirFS(into)); err != nil {
		return verdict{}, err
	}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(mixed, rel), text, 0o644)
	})
	if err != nil {
		return verdict{}, err
	}
	return execute(ctx, mixed, line)
}

// testsOn runs the tests of a commit and names those that pass; an error when
// one fails.
func (e *eyes) testsOn(ctx context.Context, commit string) ([]string, error) {
	tree, err := e.git(ctx, e.Origin, "rev-parse", commit+"^{tree}")
	if err != nil {
		return nil, err
	}
	v, err := e.on(ctx, tree, "go test -json ./...")
	if err != nil {
		return nil, err
	}
	var passed []string
	for line := range strings.Lines(v.output) {
		var ev struct{ Action, Package, Test, Output string }
		if json.Unmarshal([]byte(line), &ev) != nil || ev.Test == "" {
			continue
		}
		switch ev.Action {
		case "pass":
			passed = append(passed, ev.Package+"."+ev.Test)
		case "fail":
			return nil, fmt.Errorf("%s.%s fails on %.7s", ev.Package, ev.Test, tree)
		}
	}
	if !v.passed {
		return nil, fmt.Errorf("go test fails on %.7s:\n%s", tree, v.output)
	}
	if len(passed) == 0 {
		return nil, fmt.Errorf("%.7s has no tests", tree)
	}
	slices.Sort(passed)
	return passed, nil
}

// tested: the tree of the pushed branch is the one that went into the last
// gate containers, all of them, and they were green. Their names carry the
// tree; the exit codes are the daemon's.
func (e *eyes) tested(ctx context.Context) (string, error) {
	all := e.of("gate")
	if len(all) == 0 {
		return "", errors.New("no gate ran in a container")
	}
	pushed, err := e.git(ctx, e.Origin, "rev-parse", e.head+"^{tree}")
	if err != nil {
		return "", err
	}
	last := all[0]
	for _, b := range all {
		if b.Started.After(last.Started) {
			last = b
		}
	}
	if !strings.HasPrefix(pushed, last.Tree) {
		return "", fmt.Errorf("the tree %.7s was pushed, and the last gate judged %s", pushed, last.Tree)
	}
	green := map[string]bool{}
	for _, b := range all {
		if b.Tree != last.Tree {
			continue
		}
		if b.Exit != "0" {
			return "", fmt.Errorf("%s ended with %s", b.Name, b.Exit)
		}
		green[b.GateNumber] = true
	}
	for n, line := range gates {
		if !green[n] {
			return "", fmt.Errorf("%s did not run on %s", line, last.Tree)
		}
	}
	return fmt.Sprintf("%.7s went through %s, %s and %s", pushed, gates["0"], gates["1"], gates["2"]), nil
}

// passes: what was pushed passes its tests on this machine.
func (e *eyes) passes(ctx context.Context) (string, error) {
	passed, err := e.testsOn(ctx, e.head)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d tests on %s (%.7s)", len(passed), e.branch, e.head), nil
}
