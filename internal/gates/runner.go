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
	"company/internal/shell"
	"company/internal/testreport"
	"company/internal/toolproto"
)

// Runner runs gates in containers.
type Runner struct {
	Runtime container.Runtime
	Office  string
	Limits  container.Limits
	// LimitsByProject are the limits of each project's containers instead, which grow
	// with what its checks need. Nil: Limits are everybody's.
	LimitsByProject *container.Sizes `part:"optional"`
	Timeout         time.Duration    // of one run of a check; 0: 30 min
	// Blobs keeps the whole output of each check, and the names of its tests.
	// Nil: neither is kept, and no test is ever missed.
	Blobs  Blobs `part:"optional"`
	Logger *slog.Logger
	// Images are the images that trees are judged in; dependencies that are
	// refused are the verdict. Nil: the task's own image judges every tree.
	Images ImageSource `part:"optional"`
	// Canary has gates prove that they look at what a change touches.
	Canary bool
}

// Blobs keeps outputs under their hashes.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (company.Hash, error)
	GetBlob(ctx context.Context, h company.Hash) ([]byte, error)
}

// ImageSource finds the image for a commit or a tree of a task.
type ImageSource interface {
	// ImageForTree returns the image; where the tree's dependencies may not be
	// had, it is the task's own, and refused says which.
	ImageForTree(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID) (image, refused string, err error)
}

// Job is one tree to be judged.
type Job struct {
	Mirror *gitops.Mirror
	Tree   company.OID
	Files  []gitops.Entry // the files to run instead of the tree's; nil: the tree's
	Gates  []company.GateCommand
	Hash   company.Hash
	Image  string
	Label  string // subtask or task: whose containers these are
	Epoch  uint64
	// Base is the commit before the change, and BaseImage what it is judged
	// in: where they are known, the gate has to show that it looks at what the
	// change touches.
	Base       company.OID
	BaseImage  string
	ExtraFiles []gitops.Text // tests that must fail, beside the tree's files
	// BaselineResult is the baseline that the tree is judged by. With Baseline the
	// tree is the base itself: every check is run, and each must be able to.
	BaselineResult *company.GateResult
	Baseline       bool
	// OnCheckStarted is called before each check, for the feed. It may be nil.
	OnCheckStarted func(name string)
}

// baselineCheck is the baseline's check at this place, or nil.
func (j Job) baselineCheck(i int) *company.GateCheck {
	if j.BaselineResult == nil || i >= len(j.BaselineResult.Checks) {
		return nil
	}
	return &j.BaselineResult.Checks[i]
}

// Run judges a tree. An error means that no verdict could be reached (the
// daemon is gone, the container ran out of memory): it is not the work's fault
// and the effect is tried again.
func (r *Runner) Run(ctx context.Context, j Job) (company.GateResult, error) {
	res := company.GateResult{Tree: j.Tree, GateHash: j.Hash, Image: j.Image}
	lintBars := false
	for i, g := range j.Gates {
		base := j.baselineCheck(i)
		check := company.GateCheck{Name: g.Name, Command: g.Command}
		var err error
		switch {
		case base != nil && base.Absent:
			check.Absent = true
		case lintBars && !g.IsLint() && !j.Baseline:
			check.Skipped = true
		default:
			if j.OnCheckStarted != nil {
				j.OnCheckStarted(g.Name)
			}
			if check, err = r.checkAndProve(ctx, j, i); err != nil {
				return company.GateResult{}, err
			}
		}
		if check.Against(base) == company.ComparedUnreadable {
			if check.Beside, err = r.newOutputLines(ctx, check, *base); err != nil {
				return company.GateResult{}, err
			}
		}
		res.Checks = append(res.Checks, check)
		lintBars = lintBars || g.IsLint() && check.Against(base) == company.ComparedFailed
	}
	return res.Settle(j.BaselineResult, nil), nil
}

// checkAndProve runs a check and, where that is asked for, has it show that it
// looks at what the change touches: beside the check where the host has memory
// for both, else after it. A check that bars has nothing to show.
func (r *Runner) checkAndProve(ctx context.Context, j Job, i int) (company.GateCheck, error) {
	if !r.Canary || j.Base == "" || j.Baseline || j.Gates[i].IsLint() {
		return r.runWithReruns(ctx, j, i)
	}
	cctx, stop := context.WithCancel(ctx)
	defer stop()
	var canary *company.Canary
	prove := func() (err error) {
		canary, err = r.runCanary(cctx, j, i)
		return err
	}
	proof := make(chan error, 1)
	beside := hasMemoryFor(2 * r.Limits.WithDefaults().MemoryBytes)
	if beside {
		go func() { proof <- company.Guard("proving a gate", prove) }()
	}
	check, err := r.runWithReruns(ctx, j, i)
	if err != nil || check.Against(j.baselineCheck(i)) == company.ComparedFailed {
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

// hasMemoryFor says whether the host has this much memory to spare. Where that is
// not known it has not.
func hasMemoryFor(bytes int64) bool {
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

// writeTar writes the judged files.
func (j Job) writeTar(ctx context.Context, w io.Writer) error {
	files := j.Files
	if files == nil {
		var err error
		if files, err = j.Mirror.List(ctx, j.Tree); err != nil {
			return err
		}
	}
	return j.Mirror.TarEntries(ctx, files, w, j.ExtraFiles...)
}

// maxMissingTests is how many tests are named that are no longer reported.
const maxMissingTests = 20

// maxReruns is how often a red test is run again on the same tree.
const maxReruns = 2

// runWithReruns runs a check, and again when it is red: what then passes is
// flaky, and what fails again in the same way is red.
func (r *Runner) runWithReruns(ctx context.Context, j Job, i int) (company.GateCheck, error) {
	g, base := j.Gates[i], j.baselineCheck(i)
	check, res, err := r.runCheck(ctx, j, i, 0)
	for n := 1; err == nil && n <= maxReruns && shouldRerun(g, check, base); n++ {
		var again company.GateCheck
		was := check
		if again, res, err = r.runCheck(ctx, j, i, n); err != nil {
			break
		}
		again.Attempts = append(slices.Clone(was.Attempts), was.ExitCode)
		again.Took += was.Took
		again.Flaky = flakyTests(was, again)
		if j.Baseline && !again.Passed {
			addEarlierFailures(&again, was)
		}
		if again.Passed {
			again.Output = fmt.Sprintf("[flaky: the run of the same tree before this one ended with exit code %d]\n", was.ExitCode) + again.Output
		}
		check = again
		if len(again.Flaky) == len(was.Flaky) && slices.Equal(testNames(was.Tests), testNames(again.Tests)) && was.ExitCode == again.ExitCode {
			break // it is no accident
		}
	}
	switch {
	case err != nil || res == nil:
	case check.Counts != nil:
		err = r.storeTestNames(ctx, &check, res.Passed, base)
	case check.Passed:
		// Green, and it does not say any more which tests it ran: then none of
		// the base's is known to have been run.
		err = r.storeTestNames(ctx, &check, nil, base)
	}
	if err == nil && j.Baseline && check.ExitCode == exitKilled {
		return check, killedError(g)
	}
	if err == nil && j.Baseline && cannotStart(check) {
		if !g.IsLint() || g.Given {
			return check, cannotStartError(g, check)
		}
		return company.GateCheck{Name: g.Name, Command: g.Command, Absent: true, ExitCode: check.ExitCode, Output: check.Output, Log: check.Log, Took: check.Took}, nil
	}
	return check, err
}

// shouldRerun says whether a red check may be an accident. A linter, a program that
// does not build, one that cannot start or one that does not end is none.
func shouldRerun(g company.GateCommand, c company.GateCheck, base *company.GateCheck) bool {
	if g.IsLint() || c.Against(base) != company.ComparedFailed || c.ExitCode == exitTimeout || cannotStart(c) {
		return false
	}
	builds := len(c.Tests) == 0
	for _, t := range c.Tests {
		builds = builds || !strings.HasSuffix(t.Name, " (build failed)") && !strings.HasPrefix(t.Name, "could not compile ")
	}
	return builds
}

// flakyTests are the failures of a run that the next one of the same tree has not.
func flakyTests(was, now company.GateCheck) []string {
	out := was.Flaky
	failed := testNames(now.Tests)
	for _, n := range testNames(was.Tests) {
		if len(out) < testreport.MaxNamedFailures && !slices.Contains(failed, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if was.Counts == nil && now.ExitCode == 0 {
		out = append(out, now.Name)
	}
	return out
}

// addEarlierFailures adds to a red run of the base what failed in the ones before it. A
// test that the base fails now and then is known to fail there: in a check
// that stays red no later run could show that it is flaky.
func addEarlierFailures(c *company.GateCheck, was company.GateCheck) {
	if c.Counts == nil || was.Counts == nil || c.Counts.Failed != len(c.Tests) || was.Counts.Failed != len(was.Tests) {
		return // not all have names
	}
	now := testNames(c.Tests)
	for _, f := range was.Tests {
		if !slices.Contains(now, f.Name) && len(c.Tests) < testreport.MaxNamedFailures {
			c.Tests = append(c.Tests, f)
			c.Counts.Failed++
		}
	}
}

func testNames(tests []company.TestResult) []string {
	out := make([]string, 0, len(tests))
	for _, t := range tests {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}

// exitKilled is the exit code of a killed process: most often by the kernel,
// for its memory.
const exitKilled = 137

// killedError explains a gate that was killed on the base: that is no verdict, and
// nothing to live with for all the work to come.
func killedError(g company.GateCommand) error {
	return company.E(company.EGates, fmt.Sprintf("the gate %s (%s) was killed on the base commit, exit %d", g.Name, testreport.CleanName(g.Command, 100), exitKilled)).
		Because("something in it was killed, by the kernel for its memory as a rule; that says nothing about the base").
		Fix("raise workers.memory, or have the command do less at a time, then try again").NeedsPerson()
}

// exitTimeout is the exit code of a check that was ended for its time.
const exitTimeout = 124

// cannotStart says whether a check did not run at all: a shell ends with 126 or
// 127 then, and make has a message of its own.
func cannotStart(c company.GateCheck) bool {
	return c.ExitCode == 126 || c.ExitCode == 127 ||
		c.ExitCode == 2 && strings.HasPrefix(c.Command, "make ") && strings.HasSuffix(lastMakeLine(c.Output), " Error 127")
}

// lastMakeLine is the line in which make gives up. What its commands print comes
// by another stream, and may stand after it.
func lastMakeLine(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "make: *** ") {
			last = line
		}
	}
	return last
}

// cannotStartError explains a gate that cannot run on the base: no work was
// done yet, so the set-up is at fault, and it must be mended.
func cannotStartError(g company.GateCommand, c company.GateCheck) error {
	key := Test
	if g.IsLint() {
		key = Lint
	}
	line := testreport.CleanName(lastLine(c.Output), 200)
	if line == "" {
		line = "exit code " + fmt.Sprint(c.ExitCode)
	}
	return company.E(company.EGates, fmt.Sprintf("the gate %s (%s) cannot start on the base commit", g.Name, testreport.CleanName(g.Command, 100))).
		Because("the image has no such program, or it is not executable: " + line).
		Fix("have it installed with container.setup, or name another command with gates." + key + ", then submit again").NeedsPerson()
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// storeTestNames stores which tests passed, and finds those that passed on the base
// and are not run any more.
func (r *Runner) storeTestNames(ctx context.Context, c *company.GateCheck, passed []string, base *company.GateCheck) error {
	if r.Blobs == nil || len(passed) == 0 && base == nil {
		return nil
	}
	slices.Sort(passed)
	h, err := r.Blobs.PutBlob(ctx, []byte(strings.Join(passed, "\n")))
	if err != nil {
		return err
	}
	c.Names = h
	if base == nil || base.Names == "" || base.Names == h || r.Blobs == nil || c.Against(base) == company.ComparedFailed {
		return nil
	}
	old, err := r.Blobs.GetBlob(ctx, base.Names)
	if err != nil {
		return fmt.Errorf("read the tests of the base: %w", err)
	}
	now := make(map[string]bool, len(passed)+len(c.Tests))
	for _, n := range append(testNames(c.Tests), passed...) {
		now[n] = true
	}
	for n := range strings.SplitSeq(string(old), "\n") {
		if n != "" && !now[n] && len(c.Gone) <= maxMissingTests {
			c.Gone = append(c.Gone, n)
		}
	}
	if len(c.Gone) > maxMissingTests {
		c.Gone[maxMissingTests] = "and more"
	}
	return nil
}

var errTimeout = errors.New("gates: the check ran too long")

// runCheck runs a check in a container of its own, and in a larger one where it ran
// out of memory and this host has more.
func (r *Runner) runCheck(ctx context.Context, j Job, n, attempt int) (company.GateCheck, *testreport.Results, error) {
	limits := r.Limits
	if r.LimitsByProject != nil {
		limits = r.LimitsByProject.Of(j.Mirror.Dir())
	}
	for {
		check, res, err := r.runInContainer(ctx, j, n, attempt, limits)
		if !errors.Is(err, errOutOfMemory) || ctx.Err() != nil {
			return check, res, err
		}
		had, more := limits.WithDefaults().MemoryBytes, false
		if r.LimitsByProject != nil {
			limits, more = r.LimitsByProject.Grow(j.Mirror.Dir(), had)
		}
		if !more {
			return check, res, company.E(company.EGates, fmt.Sprintf("the %s gate ran out of memory (%s)", j.Gates[n].Name, container.Size(had))).
				Because("the container's memory limit was hit; that says nothing about the work").Fix("raise workers.memory, or have the gate run less at a time").NeedsPerson() // the same in the same container
		}
		if j.OnCheckStarted != nil {
			j.OnCheckStarted(fmt.Sprintf("%s again, with %s of memory instead of %s", j.Gates[n].Name, container.Size(limits.MemoryBytes), container.Size(had)))
		}
	}
}

// missingModuleText explains the go command's message about a missing module.
func missingModuleText(output string) string {
	if !strings.Contains(output, toolproto.ModuleNotThere) {
		return ""
	}
	return "\n[a Go module that is named there is not in the image: it has what the go.mod and go.sum of the base name, as far as that could be downloaded, and nothing is fetched here]"
}

// errOutOfMemory: the container's memory limit was hit.
var errOutOfMemory = errors.New("gates: out of memory")

// runInContainer runs a check in one container of its own.
func (r *Runner) runInContainer(ctx context.Context, j Job, n, attempt int, limits container.Limits) (company.GateCheck, *testreport.Results, error) {
	g := j.Gates[n]
	limit := r.Timeout
	if limit == 0 {
		limit = 30 * time.Minute
	}
	cctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
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
	if j.ExtraFiles != nil {
		labels.Role = "canary"
		name = labels.Name("canary", j.Tree.Short(), fmt.Sprint(n))
	}
	out := &outputBuffer{}
	stdout := newReportReader(g.Parse, out)
	began := time.Now()
	tr, tw := io.Pipe()
	tarred := make(chan struct{})
	go func() {
		defer close(tarred)
		tw.CloseWithError(company.Guard("packing the tree of a gate", func() error {
			return j.writeTar(cctx, tw)
		}))
	}()
	exit, err := container.RunGate(cctx, r.Runtime, container.Spec{
		Name: name, Image: j.Image, Labels: labels, Limits: limits,
		Command: []string{"/usr/local/bin/toolbox", "gate", "--", "/bin/sh", "-c", checkScript(g, j.Baseline)},
	}, tr, stdout, out)
	tr.CloseWithError(io.ErrClosedPipe)
	<-tarred
	res := stdout.collectResults()
	check := company.GateCheck{Name: g.Name, Command: g.Command, Took: time.Since(began), Output: out.headAndTail() + missingModuleText(out.headAndTail())}
	switch {
	case err != nil && errors.Is(context.Cause(cctx), errTimeout) && ctx.Err() == nil:
		check.ExitCode = exitTimeout
		check.Output += fmt.Sprintf("\n[the check was ended after %s]", limit)
	case err != nil:
		return check, nil, err
	case exit.OOMKilled:
		return check, nil, errOutOfMemory
	default:
		check.ExitCode, check.Passed = exit.Code, exit.Code == 0
	}
	res.ApplyTo(&check)
	if r.Blobs != nil {
		h, err := r.Blobs.PutBlob(ctx, out.log)
		if err != nil {
			return check, nil, err
		}
		check.Log = h
	}
	return check, res, nil
}

// checkScript is what the container's shell is given. A baseline asks first whether
// the image has what the check needs; later that is settled.
func checkScript(g company.GateCommand, probe bool) string {
	var b strings.Builder
	if g.Dir != "" {
		fmt.Fprintf(&b, "cd -- %s || exit\n", shell.QuoteArgument(g.Dir))
	}
	if probe && g.Probe != "" {
		fmt.Fprintf(&b, "why=$( ( %s\n) 2>&1 ) || { printf 'not in the image: %%s\\n' %s\"$(printf '%%s' \"$why\" | tail -n 1 | sed 's/^/: /')\" >&2; exit 127; }\n", g.Probe, shell.QuoteArgument(g.Probe))
	}
	run := g.Command
	if g.Report != "" {
		run = g.Report
	}
	if g.Parse == testreport.FormatPlain || g.Given && g.Parse == testreport.FormatFindings { // what runners print comes on both streams, and in order
		fmt.Fprintf(&b, "( %s\n) 2>&1", run)
		return b.String()
	}
	if !isFileReport(g.Parse) {
		b.WriteString(run)
		return b.String()
	}
	// The exit code stays the command's own. The parenthesis stands on a line
	// of its own: a script may end in a comment. What the command left running
	// is killed, so that nothing is printed behind the last marker but the
	// file; and in base64 the file holds no marker.
	fmt.Fprintf(&b, "( %s\n)\ncode=$?\nkill -9 -1 2>/dev/null\nprintf '\\n%%s\\n' %s\nhead -c %d %s 2>/dev/null | base64\nexit $code\n", run, reportMarker, maxReport+1, testreport.File)
	return b.String()
}

// Evaluate reaches a verdict on a tree for a task: from the cache where the same
// tree was judged before, else by running the gates.
func (r *Runner) Evaluate(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, tree company.OID, label string, started func(string)) (company.GateResult, error) {
	image, refused, err := r.imageFor(ctx, t, m, tree)
	if err != nil {
		return company.GateResult{}, err
	}
	if refused != "" {
		return notPreparedResult(t.Prepared, tree, image, refused), nil
	}
	j := Job{Mirror: m, Tree: tree, Image: image, Label: label, BaselineResult: t.Baseline, OnCheckStarted: started}
	if r.Canary {
		j.Base = t.Prepared.Base.OID
		if j.BaseImage, _, err = r.imageFor(ctx, t, m, j.Base); err != nil {
			return company.GateResult{}, err
		}
	}
	return r.evaluateCached(ctx, s, t, j)
}

// imageFor is the image that the gates of a commit or tree of a task run in,
// or why there can be none.
func (r *Runner) imageFor(ctx context.Context, t *company.Task, m *gitops.Mirror, at company.OID) (image, refused string, err error) {
	if r.Images == nil || len(t.Prepared.Gates) == 0 {
		return t.Prepared.Image, "", nil
	}
	return r.Images.ImageForTree(ctx, t, m, at)
}

func (r *Runner) evaluateCached(ctx context.Context, s *company.State, t *company.Task, j Job) (company.GateResult, error) {
	j.Gates, j.Hash, j.Epoch = t.Prepared.Gates, t.Prepared.GateHash, s.Office.Epoch
	if hit, ok := s.GateResults[company.GateKey(j.Tree, j.Hash, j.Image)]; ok {
		if hit, ok = s.Reuse(t, hit, j.BaselineResult); ok {
			return r.proveCached(ctx, s, t, j, hit)
		}
	}
	res, err := r.Run(ctx, j)
	if err != nil {
		return res, err
	}
	return s.Settle(t, res), nil
}

// notPreparedResult is the verdict on a tree whose dependencies may not be had, or
// cannot be: red, before any check. Its exit code is that of what could not
// start, so that no baseline excuses it.
func notPreparedResult(p *company.TaskPrepared, tree company.OID, image, why string) company.GateResult {
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
