// Command mutants breaks the core on purpose, one line at a time, and asks the
// tests whether they notice. It is run from the module's root:
//
//	go run ./test/mutants          every mutant
//	go run ./test/mutants -short   the four that matter most
//	go run ./test/mutants -run cap only those whose name contains "cap"
//
// Each mutant replaces a text that must occur exactly once in its file. It must
// build, and the test that it names must fail on it and pass on the clean
// tree. The checkout is not touched: the changed file is laid over it (go test
// -overlay). The exit code is 0 when every mutant was noticed, else 1.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// core is the package that is broken.
const core = "internal/company"

// perTest is how long one build, or one test, may take. Mutants that never end
// are noticed by it; it says nothing about speed.
const perTest = 5 * time.Minute

func main() {
	short := flag.Bool("short", false, "only the four that matter most")
	only := flag.String("run", "", "only mutants whose name contains this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *short, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, short bool, only string) (bool, error) {
	list := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool {
		return short && !m.short || !strings.Contains(m.name, only)
	})
	if len(list) == 0 {
		return false, fmt.Errorf("no mutant is called %q", only)
	}
	if _, err := os.Stat(core); err != nil {
		return false, fmt.Errorf("run it from the root of the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "company-mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)

	clean := filepath.Join(dir, "clean.test")
	if out, err := build(ctx, clean, ""); err != nil {
		return false, fmt.Errorf("the clean tree does not build: %w\n%s", err, out)
	}
	tw := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	defer tw.Flush()
	fmt.Fprintln(tw, "MUTANT\tFILE\tTEST\tVERDICT")
	bad := 0
	for i, m := range list {
		verdict, good := try(ctx, dir, clean, i, m)
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if !good {
			bad++
			verdict = "!! " + verdict
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", m.name, m.file, m.test, verdict)
	}
	fmt.Fprintf(tw, "\n%d of %d mutants were noticed\n", len(list)-bad, len(list))
	return bad == 0, nil
}

// try makes one mutant and says what became of it, and whether that is good.
func try(ctx context.Context, dir, clean string, n int, m mutant) (string, bool) {
	if verdict := test(ctx, clean, m.test); verdict != passed {
		return "the test does not pass on the clean tree: " + verdict, false
	}
	overlay, err := m.lay(dir, n)
	if err != nil {
		return err.Error(), false
	}
	bin := filepath.Join(dir, "mutant.test")
	if out, err := build(ctx, bin, overlay); err != nil {
		return "does not build: " + firstLine(out), false
	}
	if verdict := test(ctx, bin, m.test); verdict != failed {
		return "SURVIVED: its test " + verdict, false
	}
	return "noticed", true
}

// lay writes the mutated file and the overlay that puts it into place.
func (m mutant) lay(dir string, n int) (string, error) {
	path, err := filepath.Abs(filepath.Join(core, m.file))
	if err != nil {
		return "", err
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if c := strings.Count(string(src), m.old); c != 1 {
		return "", fmt.Errorf("its text occurs %d times, not once", c)
	}
	changed := filepath.Join(dir, fmt.Sprintf("%d_%s", n, m.file))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(src), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, raw, 0o600)
}

// build compiles the core's tests.
func build(ctx context.Context, bin, overlay string) (string, error) {
	args := []string{"test", "-c", "-vet=off", "-o", bin}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	return output(ctx, "", "go", append(args, "./"+core)...)
}

const (
	passed = "passes"
	failed = "fails"
)

// test runs one test of a test binary, in its package's folder.
func test(ctx context.Context, bin, name string) string {
	out, _ := output(ctx, core, bin, "-test.run", "^"+name+"$", "-test.v", "-test.timeout", perTest.String(), "-rapid.nofailfile", "-rapid.shrinktime", "1s")
	switch {
	case regexp.MustCompile(`(?m)^--- FAIL: ` + name + ` `).MatchString(out):
		return failed
	case regexp.MustCompile(`(?m)^--- PASS: ` + name + ` `).MatchString(out):
		return passed
	case strings.Contains(out, "no tests to run"):
		return "does not exist"
	}
	return "ends without a verdict: " + firstLine(out)
}

func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, perTest+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// firstLine is the first line that says something.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "(no output)"
}
