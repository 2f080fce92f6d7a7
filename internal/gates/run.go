package gates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops"
	"company/internal/toolbox"
)

// Runner runs gates in containers.
type Runner struct {
	Runtime container.Runtime
	Office  string
	Limits  container.Limits
	// Sizes are the limits of each project's containers instead, which grow
	// with what its checks need. Nil: Limits are everybody's.
	Sizes   *container.Sizes
	Timeout time.Duration // of one run of a check; 0: 30 min
	// Keep stores the whole output of a check, or the names of its tests, and
	// names it; Load gives it back. Without Load no test is ever missed.
	Keep   func(ctx context.Context, output []byte) (company.Hash, error)
	Load   func(ctx context.Context, h company.Hash) ([]byte, error)
	Logger *slog.Logger
	// Image is the image that a tree of a task is judged in; where the tree's
	// dependencies may not be had, refused says which, and that is the
	// verdict. Nil: the task's own image judges every tree.
	Image func(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID) (image, refused string, err error)
	// Canary has gates prove that they look at what a change touches.
	Canary bool
}

// Job is one tree to be judged.
type Job struct {
	Mirror *gitops.Mirror
	Tree   company.OID
	Files  []gitops.Entry // what is run instead of the tree's files; nil: those
	Gates  []company.GateCommand
	Hash   company.Hash
	Image  string
	Label  string // subtask or task: whose containers these are
	Epoch  uint64
	// Base is the commit before the change, and BaseImage what it is judged
	// in: where they are known, the gate has to show that it looks at what the
	// change touches.
	Base      company.OID
	BaseImage string
	Planted   []gitops.Text // tests that must fail, beside the tree's files
	// Known is the baseline that the tree is judged by. With Baseline the
	// tree is the base itself: every check is run, and each must be able to.
	Known    *company.GateResult
	Baseline bool
	// Started is told before each check, for the feed. It may be nil.
	Started func(name string)
}

// known is the baseline's check at this place, or nil.
func (j Job) known(i int) *company.GateCheck {
	if j.Known == nil || i >= len(j.Known.Checks) {
		return nil
	}
	return &j.Known.Checks[i]
}

// Run judges a tree. An error means that no verdict could be reached (the
// daemon is gone, the container ran out of memory): it is not the work's fault
// and the effect is tried again.
func (r *Runner) Run(ctx context.Context, j Job) (company.GateResult, error) {
	res := company.GateResult{Tree: j.Tree, GateHash: j.Hash, Image: j.Image}
	lintBars := false
	for i, g := range j.Gates {
		base := j.known(i)
		check := company.GateCheck{Name: g.Name, Command: g.Command}
		var err error
		switch {
		case base != nil && base.Absent:
			check.Absent = true
		case lintBars && !g.IsLint() && !j.Baseline:
			check.Skipped = true
		default:
			if j.Started != nil {
				j.Started(g.Name)
			}
			if check, err = r.checkAndProve(ctx, j, i); err != nil {
				return company.GateResult{}, err
			}
		}
		if check.Against(base) == company.StandUnread {
			if check.Beside, err = r.beside(ctx, check, *base); err != nil {
				return company.GateResult{}, err
			}
		}
		res.Checks = append(res.Checks, check)
		lintBars = lintBars || g.IsLint() && check.Against(base) == company.StandFailed
	}
	return res.Settle(j.Known, nil), nil
}

// checkAndProve runs a check and, where that is asked for, has it show that it
// looks at what the change touches: beside the check where the host has memory
// for both, else after it. A check that bars has nothing to show.
func (r *Runner) checkAndProve(ctx context.Context, j Job, i int) (company.GateCheck, error) {
	if !r.Canary || j.Base == "" || j.Baseline || j.Gates[i].IsLint() {
		return r.check(ctx, j, i)
	}
	cctx, stop := context.WithCancel(ctx)
	defer stop()
	var canary *company.Canary
	prove := func() (err error) {
		canary, err = r.canary(cctx, j, i)
		return err
	}
	proof := make(chan error, 1)
	beside := roomFor(2 * r.Limits.WithDefaults().MemoryBytes)
	if beside {
		go func() { proof <- company.Guard("proving a gate", prove) }()
	}
	check, err := r.check(ctx, j, i)
	if err != nil || check.Against(j.known(i)) == company.StandFailed {
		if stop(); beside {
			<-proof
		}
		return check, err
	}
	if !beside {
		proof <- prove()
	}
	err = <-proof
	if check.Canary = canary; check.Hollow() && canary.Reason != "" {
		check.Output = "[" + canary.Reason + "]\n" + check.Output // the worker reads this
	}
	return check, err
}

// roomFor says whether the host has this much memory to spare. Where that is
// not known it has not.
func roomFor(bytes int64) bool {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return false
	}
	m := memAvailable.FindSubmatch(text)
	if m == nil {
		return false
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	return err == nil && kib<<10 >= bytes
}

var memAvailable = regexp.MustCompile(`(?m)^MemAvailable:\s+(\d+) kB`)

// tar writes what is judged.
func (j Job) tar(ctx context.Context, w io.Writer) error {
	files := j.Files
	if files == nil {
		var err error
		if files, err = j.Mirror.List(ctx, j.Tree); err != nil {
			return err
		}
	}
	return j.Mirror.TarEntries(ctx, files, w, j.Planted...)
}

// maxReruns is how often a red test is run again on the same tree.
const maxReruns = 2

// check runs a check, and again when it is red: what then passes is flaky, and
// what fails again in the same way is red (DESIGN §7).
func (r *Runner) check(ctx context.Context, j Job, i int) (company.GateCheck, error) {
	g, base := j.Gates[i], j.known(i)
	check, res, err := r.once(ctx, j, i, 0)
	for n := 1; err == nil && n <= maxReruns && rerun(g, check, base); n++ {
		var again company.GateCheck
		was := check
		if again, res, err = r.once(ctx, j, i, n); err != nil {
			break
		}
		again.Attempts = append(slices.Clone(was.Attempts), was.ExitCode)
		again.Took += was.Took
		again.Flaky = flaky(was, again)
		if j.Baseline && !again.Passed {
			alsoFailed(&again, was)
		}
		if again.Passed {
			again.Output = fmt.Sprintf("[flaky: the run of the same tree before this one ended with exit code %d]\n", was.ExitCode) + again.Output
		}
		check = again
		if len(again.Flaky) == len(was.Flaky) && slices.Equal(names(was.Tests), names(again.Tests)) && was.ExitCode == again.ExitCode {
			break // it is no accident
		}
	}
	switch {
	case err != nil || res == nil:
	case check.Counts != nil:
		err = r.keepNames(ctx, &check, res.passed, base)
	case check.Passed:
		// Green, and it does not say any more which tests it ran: then none of
		// the base's is known to have been run.
		err = r.keepNames(ctx, &check, nil, base)
	}
	if err == nil && j.Baseline && check.ExitCode == exitKilled {
		return check, killed(g)
	}
	if err == nil && j.Baseline && cannotStart(check) {
		if !g.IsLint() || g.Given {
			return check, unable(g, check)
		}
		return company.GateCheck{Name: g.Name, Command: g.Command, Absent: true, ExitCode: check.ExitCode, Output: check.Output, Log: check.Log, Took: check.Took}, nil
	}
	return check, err
}

// rerun says whether a red check may be an accident. A linter, a program that
// does not build, one that cannot start or one that does not end is none.
func rerun(g company.GateCommand, c company.GateCheck, base *company.GateCheck) bool {
	if g.IsLint() || c.Against(base) != company.StandFailed || c.ExitCode == exitTooLong || cannotStart(c) {
		return false
	}
	builds := len(c.Tests) == 0
	for _, t := range c.Tests {
		builds = builds || !strings.HasSuffix(t.Name, " (build failed)") && !strings.HasPrefix(t.Name, "could not compile ")
	}
	return builds
}

// flaky are the failures of a run that the next one of the same tree has not.
func flaky(was, now company.GateCheck) []string {
	out := was.Flaky
	failed := names(now.Tests)
	for _, n := range names(was.Tests) {
		if len(out) < maxNamed && !slices.Contains(failed, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if was.Counts == nil && now.ExitCode == 0 {
		out = append(out, now.Name)
	}
	return out
}

// alsoFailed adds to a red run of the base what failed in the ones before it. A
// test that the base fails now and then is known to fail there: in a check
// that stays red no later run could show that it is flaky.
func alsoFailed(c *company.GateCheck, was company.GateCheck) {
	if c.Counts == nil || was.Counts == nil || c.Counts.Failed != len(c.Tests) || was.Counts.Failed != len(was.Tests) {
		return // not all have names
	}
	now := names(c.Tests)
	for _, f := range was.Tests {
		if !slices.Contains(now, f.Name) && len(c.Tests) < maxNamed {
			c.Tests = append(c.Tests, f)
			c.Counts.Failed++
		}
	}
}

func names(tests []company.TestResult) []string {
	out := make([]string, 0, len(tests))
	for _, t := range tests {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}

// exitKilled is the exit code of what somebody killed: the kernel for its
// memory, most often.
const exitKilled = 137

// killed explains a gate that was killed on the base: that is no verdict, and
// nothing to live with for all the work to come.
func killed(g company.GateCommand) error {
	e := company.E(company.EGates, fmt.Sprintf("the gate %s (%s) was killed on the base commit, exit %d", g.Name, clean(g.Command, 100), exitKilled)).
		Because("something in it was killed, by the kernel for its memory as a rule; that says nothing about the base").
		Fix("raise workers.memory, or have the command do less at a time, then try again")
	e.Class = company.HumanRequired
	return e
}

// exitTooLong is the exit code of a check that was ended for its time.
const exitTooLong = 124

// cannotStart says whether a check did not run at all: 126 and 127 are a
// shell's words for that, and make has its own.
func cannotStart(c company.GateCheck) bool {
	return c.ExitCode == 126 || c.ExitCode == 127 ||
		c.ExitCode == 2 && strings.HasPrefix(c.Command, "make ") && strings.HasSuffix(lastOfMake(c.Output), " Error 127")
}

// lastOfMake is the line in which make gives up. What its commands print comes
// by another stream, and may stand after it.
func lastOfMake(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "make: *** ") {
			last = line
		}
	}
	return last
}

// unable explains a gate that cannot run on the base: no work was done yet, so
// that is nobody's fault but the set-up's, and never something to live with.
func unable(g company.GateCommand, c company.GateCheck) error {
	key := Test
	if g.IsLint() {
		key = Lint
	}
	line := clean(lastLine(c.Output), 200)
	if line == "" {
		line = "exit code " + fmt.Sprint(c.ExitCode)
	}
	e := company.E(company.EGates, fmt.Sprintf("the gate %s (%s) cannot start on the base commit", g.Name, clean(g.Command, 100))).
		Because("the image has no such program, or it is not executable: " + line).
		Fix("have it installed with container.setup, or name another command with gates." + key + ", then submit again")
	e.Class = company.HumanRequired
	return e
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// keepNames stores which tests passed, and finds those that passed on the base
// and are not run any more.
func (r *Runner) keepNames(ctx context.Context, c *company.GateCheck, passed []string, base *company.GateCheck) error {
	if r.Keep == nil || len(passed) == 0 && base == nil {
		return nil
	}
	slices.Sort(passed)
	h, err := r.Keep(ctx, []byte(strings.Join(passed, "\n")))
	if err != nil {
		return err
	}
	c.Names = h
	if base == nil || base.Names == "" || base.Names == h || r.Load == nil || c.Against(base) == company.StandFailed {
		return nil
	}
	old, err := r.Load(ctx, base.Names)
	if err != nil {
		return fmt.Errorf("read the tests of the base: %w", err)
	}
	now := make(map[string]bool, len(passed)+len(c.Tests))
	for _, n := range append(names(c.Tests), passed...) {
		now[n] = true
	}
	for n := range strings.SplitSeq(string(old), "\n") {
		if n != "" && !now[n] && len(c.Gone) <= maxGone {
			c.Gone = append(c.Gone, n)
		}
	}
	if len(c.Gone) > maxGone {
		c.Gone[maxGone] = "and more"
	}
	return nil
}

var errTooLong = errors.New("gates: the check ran too long")

// once runs a check in a container of its own, and in a larger one where it ran
// out of memory and this host has more.
func (r *Runner) once(ctx context.Context, j Job, n, attempt int) (company.GateCheck, *results, error) {
	limits := r.Limits
	if r.Sizes != nil {
		limits = r.Sizes.Of(j.Mirror.Dir())
	}
	for {
		check, res, err := r.sized(ctx, j, n, attempt, limits)
		if !errors.Is(err, errMemory) || ctx.Err() != nil {
			return check, res, err
		}
		had, more := limits.WithDefaults().MemoryBytes, false
		if r.Sizes != nil {
			limits, more = r.Sizes.Grow(j.Mirror.Dir(), had)
		}
		if !more {
			e := company.E(company.EGates, fmt.Sprintf("the %s gate ran out of memory (%s)", j.Gates[n].Name, container.Size(had))).
				Because("the container's memory limit was hit; that says nothing about the work").Fix("raise workers.memory, or have the gate run less at a time")
			e.Class = company.HumanRequired // the same in the same container
			return check, res, e
		}
		if j.Started != nil {
			j.Started(fmt.Sprintf("%s again, with %s of memory instead of %s", j.Gates[n].Name, container.Size(limits.MemoryBytes), container.Size(had)))
		}
	}
}

// moduleMissing explains what the go command says in words of its own.
func moduleMissing(output string) string {
	if !strings.Contains(output, toolbox.ModuleNotThere) {
		return ""
	}
	return "\n[a Go module that is named there is not in the image: it has what the go.mod and go.sum of the base name, as far as that could be downloaded, and nothing is fetched here]"
}

// errMemory: the container's memory limit was hit.
var errMemory = errors.New("gates: out of memory")

// sized runs a check in one container of its own.
func (r *Runner) sized(ctx context.Context, j Job, n, attempt int, limits container.Limits) (company.GateCheck, *results, error) {
	g := j.Gates[n]
	limit := r.Timeout
	if limit == 0 {
		limit = 30 * time.Minute
	}
	cctx, cancel := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: j.Label, Epoch: j.Epoch, Role: "gate"}
	// The tree and the check are part of the name: two gates of one subtask
	// never want the same container. A further run says so, and so does one
	// that is no gate at all.
	name := labels.Name("gate", j.Tree.Short(), fmt.Sprint(n))
	if attempt > 0 {
		name = labels.Name("gate", j.Tree.Short(), fmt.Sprintf("%d-again%d", n, attempt))
	}
	if j.Files != nil {
		labels.Role = "redgreen"
		name = labels.Name("redgreen", j.Tree.Short(), fmt.Sprintf("%d-%d", n, attempt))
	}
	if j.Planted != nil {
		labels.Role = "canary"
		name = labels.Name("canary", j.Tree.Short(), fmt.Sprint(n))
	}
	out := &output{}
	stdout := newReader(g.Parse, out)
	began := time.Now()
	tr, tw := io.Pipe()
	tarred := make(chan struct{})
	go func() {
		defer close(tarred)
		tw.CloseWithError(company.Guard("packing the tree of a gate", func() error {
			return j.tar(cctx, tw)
		}))
	}()
	exit, err := container.RunGate(cctx, r.Runtime, container.Spec{
		Name: name, Image: j.Image, Labels: labels, Limits: limits,
		Command: []string{"/usr/local/bin/toolbox", "gate", "--", "/bin/sh", "-c", script(g, j.Baseline)},
	}, tr, stdout, out)
	tr.CloseWithError(io.ErrClosedPipe)
	<-tarred
	res := stdout.results()
	check := company.GateCheck{Name: g.Name, Command: g.Command, Took: time.Since(began), Output: out.text() + moduleMissing(out.text())}
	switch {
	case err != nil && errors.Is(context.Cause(cctx), errTooLong) && ctx.Err() == nil:
		check.ExitCode = exitTooLong
		check.Output += fmt.Sprintf("\n[the check was ended after %s]", limit)
	case err != nil:
		return check, nil, err
	case exit.OOMKilled:
		return check, nil, errMemory
	default:
		check.ExitCode, check.Passed = exit.Code, exit.Code == 0
	}
	res.into(&check)
	if r.Keep != nil {
		h, err := r.Keep(ctx, out.log)
		if err != nil {
			return check, nil, err
		}
		check.Log = h
	}
	return check, res, nil
}

// script is what the container's shell is given. A baseline asks first whether
// the image has what the check needs; later that is settled.
func script(g company.GateCommand, probe bool) string {
	var b strings.Builder
	if g.Dir != "" {
		fmt.Fprintf(&b, "cd -- %s || exit\n", quoted(g.Dir))
	}
	if probe && g.Probe != "" {
		fmt.Fprintf(&b, "why=$( ( %s\n) 2>&1 ) || { printf 'not in the image: %%s\\n' %s\"$(printf '%%s' \"$why\" | tail -n 1 | sed 's/^/: /')\" >&2; exit 127; }\n", g.Probe, quoted(g.Probe))
	}
	run := g.Command
	if g.Report != "" {
		run = g.Report
	}
	if g.Parse == Plain || g.Given && g.Parse == Lines { // what runners print comes on both streams, and in order
		fmt.Fprintf(&b, "( %s\n) 2>&1", run)
		return b.String()
	}
	if !fromFile(g.Parse) {
		b.WriteString(run)
		return b.String()
	}
	// The exit code stays the command's own. The parenthesis stands on a line
	// of its own: a script may end in a comment. What the command left running
	// is killed, so that nothing is printed behind the last marker but the
	// file; and in base64 the file holds no marker.
	fmt.Fprintf(&b, "( %s\n)\ncode=$?\nkill -9 -1 2>/dev/null\nprintf '\\n%%s\\n' %s\nhead -c %d %s 2>/dev/null | base64\nexit $code\n", run, reportMarker, maxReport+1, ReportFile)
	return b.String()
}

// Judge reaches a verdict on a tree for a task: from the cache where the same
// tree was judged before, else by running the gates.
func (r *Runner) Judge(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, tree company.OID, label string, started func(string)) (company.GateResult, error) {
	image, refused, err := r.imageFor(ctx, t, m, tree)
	if err != nil {
		return company.GateResult{}, err
	}
	if refused != "" {
		return notPrepared(t.Prepared, tree, image, refused), nil
	}
	j := Job{Mirror: m, Tree: tree, Image: image, Label: label, Known: t.Baseline, Started: started}
	if r.Canary {
		j.Base = t.Prepared.Base.OID
		if j.BaseImage, _, err = r.imageFor(ctx, t, m, j.Base); err != nil {
			return company.GateResult{}, err
		}
	}
	return r.judge(ctx, s, t, j)
}

// imageFor is the image that the gates of a commit or tree of a task run in,
// or why there can be none.
func (r *Runner) imageFor(ctx context.Context, t *company.Task, m *gitops.Mirror, at company.OID) (image, refused string, err error) {
	if r.Image == nil || len(t.Prepared.Gates) == 0 {
		return t.Prepared.Image, "", nil
	}
	return r.Image(ctx, t, m, at)
}

func (r *Runner) judge(ctx context.Context, s *company.State, t *company.Task, j Job) (company.GateResult, error) {
	j.Gates, j.Hash, j.Epoch = t.Prepared.Gates, t.Prepared.GateHash, s.Office.Epoch
	if hit, ok := s.Verdicts[company.GateKey(j.Tree, j.Hash, j.Image)]; ok {
		if hit, ok = s.Reuse(t, hit, j.Known); ok {
			return r.proveAgain(ctx, s, t, j, hit)
		}
	}
	res, err := r.Run(ctx, j)
	if err != nil {
		return res, err
	}
	return s.Settle(t, res), nil
}

// notPrepared is the verdict on a tree whose dependencies may not be had, or
// cannot be: red, before any check. Its exit code is that of what could not
// start, so that no baseline excuses it.
func notPrepared(p *company.Prepared, tree company.OID, image, why string) company.GateResult {
	res := company.GateResult{Tree: tree, GateHash: p.GateHash, Image: image}
	for i, g := range p.Gates {
		c := company.GateCheck{Name: g.Name, Command: g.Command, Skipped: i > 0}
		if i == 0 {
			c.ExitCode, c.Output = 126, why
		}
		res.Checks = append(res.Checks, c)
	}
	return res
}
