package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// suite holds the measured tests of a package.
type suite struct {
	source *source
	tests  []*oneTest // the quickest first
}

// oneTest is one test of the clean package.
type oneTest struct {
	name    string
	took    time.Duration // of processor time
	reached map[string][]block
}

// block is a run of statements that a test reached.
type block struct{ fromLine, fromCol, toLine, toCol int }

// quick is how long a test may take to be asked together with others, before
// those that take longer are asked one by one.
const quick = 400 * time.Millisecond

// measure runs each test by itself: how long it takes, and what it reaches.
func (s *source) measure(ctx context.Context, dir string, parallel int) (*suite, error) {
	bin := filepath.Join(dir, "measure.test")
	if out, err := command(ctx, s.testDir, "go", "test", "-c", "-vet=off", "-coverpkg", s.path, "-o", bin,
		"."); err != nil {
		return nil, fmt.Errorf("the tests do not build: %w\n%s", err, out)
	}
	out, err := command(ctx, s.testDir, bin, "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w\n%s", err, out)
	}
	st := &suite{source: s}
	for name := range strings.FieldsSeq(out) {
		st.tests = append(st.tests, &oneTest{name: name})
	}
	err = forEach(parallel, len(st.tests), func(i int) error {
		t := st.tests[i]
		profile := filepath.Join(dir, "cover-"+t.name)
		r := s.run(ctx, bin, 0, time.Hour, []string{t.name}, "-test.coverprofile", profile)
		if r.verdict != survived {
			return fmt.Errorf("%s does not pass on the clean package: %s\n%s", t.name, r.verdict, r.output)
		}
		t.took = r.took
		return t.readProfile(profile)
	})
	slices.SortStableFunc(st.tests, func(a, b *oneTest) int { return cmp.Compare(a.took, b.took) })
	return st, err
}

var profileLine = regexp.MustCompile(`^(.+):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

func (t *oneTest) readProfile(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	t.reached = map[string][]block{}
	for line := range strings.Lines(string(raw)) {
		m := profileLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || m[6] == "0" {
			continue
		}
		var n [4]int
		for i := range n {
			if n[i], err = strconv.Atoi(m[i+2]); err != nil {
				return err
			}
		}
		name := filepath.Base(m[1])
		t.reached[name] = append(t.reached[name], block{n[0], n[1], n[2], n[3]})
	}
	return nil
}

// reaches says whether a test runs what a mutant changes: the statements around
// it, or where no counter is around it (a case), the function.
func (t *oneTest) reaches(m *mutant, counted bool) bool {
	f := m.file
	from, to := f.line(f.offset(m.fn.Pos())), f.line(f.offset(m.fn.End()-1))
	line, col := m.line(), f.pos.Position(f.pos.Pos(m.start)).Column
	for _, b := range t.reached[f.name] {
		if counted && b.holds(line, col) || !counted && from <= b.fromLine && b.toLine <= to {
			return true
		}
	}
	return false
}

func (b block) holds(line, col int) bool {
	return (b.fromLine < line || b.fromLine == line && b.fromCol <= col) &&
		(line < b.toLine || line == b.toLine && col < b.toCol)
}

// testsReaching are the tests that may notice a mutant, the quickest first.
func (st *suite) testsReaching(m *mutant) []*oneTest {
	var exact, wide []*oneTest
	for _, t := range st.tests {
		if t.reaches(m, true) {
			exact = append(exact, t)
		}
		if t.reaches(m, false) {
			wide = append(wide, t)
		}
	}
	// The condition of a case, and a whole case, lie in no counted block.
	if len(exact) == 0 && inCase(m) {
		return wide
	}
	return exact
}

// inCase says whether a mutant is a case of a switch, or lies in one.
func inCase(m *mutant) bool {
	clause := func(n ast.Node) bool {
		_, ok := n.(*ast.CaseClause)
		return ok
	}
	return clause(m.node) || slices.ContainsFunc(m.within, clause)
}

// What became of a mutant.
const (
	survived   = "survived"
	unreached  = "survived, no test comes there"
	killed     = "killed"
	overtime   = "killed: does not end"
	overmemory = "killed: takes all memory"
	unclear    = "unclear"
)

type result struct {
	mutant  *mutant
	verdict string
	by      string // the test that noticed
	took    time.Duration
	output  string
	err     error // with which the tests ended
}

func (r result) isGood() bool { return strings.HasPrefix(r.verdict, killed) }

// tryMutant asks the tests about one mutant: first all quick ones that come there,
// then the others, one by one.
func (st *suite) tryMutant(ctx context.Context, bin string, n int, m *mutant) result {
	asked := st.testsReaching(m)
	if len(asked) == 0 {
		return result{mutant: m, verdict: unreached}
	}
	var groups [][]string
	var limits []time.Duration
	for _, t := range asked {
		if last := len(groups) - 1; t.took < quick && last >= 0 {
			groups[last] = append(groups[last], t.name)
			limits[last] += t.took
			continue
		}
		groups = append(groups, []string{t.name})
		limits = append(limits, t.took)
	}
	r := result{verdict: survived}
	for i, names := range groups {
		if r = st.source.run(ctx, bin, n, limits[i], names); r.verdict != survived {
			break
		}
	}
	r.mutant = m
	return r
}

// most is the memory of a test, in KiB: a mutant that never stops taking more
// must not take the machine's.
const most = 3 << 20

// patience is how many seconds of processor time any tests may take.
const patience = 10

// run asks some tests about a mutant (0: the clean package). Beside that they have
// some times the processor time that they take on the clean one.
func (s *source) run(
	ctx context.Context, bin string, n int, clean time.Duration, tests []string, more ...string,
) result {
	seconds := int(clean.Seconds()*4) + s.patience
	args := []string{"-c", `ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"`, "sh", strconv.Itoa(seconds),
		strconv.Itoa(most),
		bin, "-test.run", "^(" + strings.Join(tests, "|") + ")$", "-test.failfast", "-test.v", "-test.timeout", "1h"}
	if s.rapid {
		args = append(args, "-rapid.seed", "1", "-rapid.nofailfile", "-rapid.shrinktime", "1ms")
	}
	cmd := exec.CommandContext(ctx, "sh", append(args, more...)...)
	cmd.Dir = s.testDir
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), switchEnv+"="+strconv.Itoa(n), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	r := result{output: string(out), err: err}
	if cmd.ProcessState == nil { // it did not start
		r.verdict = unclear
		return r
	}
	r.took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.verdict, r.by = readVerdict(r.output, err)
	// The kernel kills what has used up its time, in which it counts what the host of a virtual
	// machine has taken; the times of the process leave that out.
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() &&
		status.Signal() == syscall.SIGKILL &&
		r.took > time.Duration(seconds)*time.Second*3/4 {
		r.verdict, r.by = overtime, lastRun(r.output)
	}
	return r
}

var failing = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// readVerdict reads the output of a test binary.
func readVerdict(out string, err error) (verdict, by string) {
	var exit *exec.ExitError
	switch failed := failing.FindStringSubmatch(out); {
	case err == nil && strings.Contains(out, "no tests to run"):
		return unclear, ""
	case err == nil:
		return survived, ""
	case strings.Contains(out, "panic: test timed out"):
		return overtime, lastRun(out)
	case strings.Contains(out, "runtime: out of memory"), strings.Contains(out, "cannot allocate memory"):
		return overmemory, lastRun(out)
	case failed != nil:
		return killed, failed[1]
	// A panic in a goroutine, a stack that overflows, a deadlock.
	case errors.As(err, &exit) && exit.Exited() && exit.ExitCode() == 2:
		return killed, lastRun(out)
	}
	return unclear, ""
}

var running = regexp.MustCompile(`(?m)^=== RUN +(\w+)`)

// lastRun is the test that was at it.
func lastRun(out string) string {
	if all := running.FindAllStringSubmatch(out, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return ""
}

func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out) + errs.String(), err
	}
	return string(out), nil
}
