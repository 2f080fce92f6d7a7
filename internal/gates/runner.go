package gates

import (
	"context"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/gitops"
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
	// Files makes lock files and generated files anew that two sides of a merge have
	// changed. Nil: they are conflicts.
	Files FileMaker `part:"optional"`
	// Beside has the tests of a tree run beside its linters where the host has memory for
	// both.
	Beside bool
	// Memory lends what containers beside others take. Nil: this host's.
	Memory *container.MemoryBook `part:"optional"`
	// Canary has gates prove that they look at what a change touches.
	Canary bool
	// FirstStepAfter is how long the tests of the base take at least where those of a ticket
	// are run in two steps; 0: never.
	FirstStepAfter time.Duration
	// Record is replayed, and tells which checks ran a part: its base took another time.
	Record Record `part:"optional"`
}

// NewRunner checks that a runner has what it needs.
func NewRunner(r Runner) (*Runner, error) { return &r, company.CheckParts(r) }

// Record is the record of a task that is replayed.
type Record interface {
	// RanPart says whether a check of a ticket's gate ran a part of its tests on a tree, and
	// whether the record has it.
	RanPart(tree company.OID, check int) (part, known bool)
}

// Blobs keeps outputs under their hashes.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (company.Hash, error)
	GetBlob(ctx context.Context, h company.Hash) ([]byte, error)
}

// Image is an image that the daemon here has.
type Image struct {
	// Key names it in verdicts and for warm containers, wherever it is made. Of tasks
	// that older versions prepared it is a daemon's id.
	Key string
	ID  string // the daemon's, which containers are made from
}

// ImageByID is an image that is known by its id alone.
func ImageByID(id string) Image { return Image{Key: id, ID: id} }

// ImageSource finds the image for a commit or a tree of a task.
type ImageSource interface {
	// ImageForTree returns the image, and has one made again that was removed; where
	// the tree's dependencies may not be had, it is the task's own, and refused says
	// which.
	ImageForTree(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID) (image Image, refused string, err error)
}

// Job is one tree to be judged.
type Job struct {
	Mirror *gitops.Mirror
	Tree   company.OID
	Files  []gitops.Entry // the files to run instead of the tree's; nil: the tree's
	Gates  []company.GateCommand
	Hash   company.Hash
	Image  Image
	Label  string // subtask or task: whose containers these are
	Epoch  uint64
	// Base is the commit before the change, and BaseImage what it is judged
	// in: where they are known, the gate has to show that it looks at what the
	// change touches.
	Base       company.OID
	BaseImage  Image
	ExtraFiles []gitops.Text // tests that must fail, beside the tree's files
	// BaselineResult is the baseline that the tree is judged by. With Baseline the
	// tree is the base itself: every check is run, and each must be able to.
	BaselineResult *company.GateResult
	Baseline       bool
	// Since is a tested commit, and of slow tests those suffice that a change from there can
	// reach; empty: all are run.
	Since    company.OID
	part     *ecosystem.TestPart // of the check at hand, where not all of it is run
	services bool                // that the tests of a check share
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
	checks, err := r.runChecks(ctx, j)
	if err != nil {
		return company.GateResult{}, err
	}
	res := company.GateResult{Tree: j.Tree, GateHash: j.Hash, Image: j.Image.Key, Checks: checks}
	return res.Settle(j.BaselineResult, nil), nil
}

// RunOnce runs the first check of a job once, red or green, and gives the names of the
// tests that passed, as far as its report tells them. An error means that no verdict
// could be reached.
func (r *Runner) RunOnce(ctx context.Context, j Job) (check company.GateCheck, passed []string, err error) {
	check, res, err := r.runCheck(ctx, j, 0, 0)
	if err == nil && res != nil && check.Counts != nil {
		passed = res.Passed
	}
	return check, passed, err
}

// checkAndProve runs a check and, where that is asked for, has it show that it
// looks at what the change touches: beside the check where the host has memory
// for both, else after it. A check that bars has nothing to show.
// Others are checks that run at the same time.
func (r *Runner) checkAndProve(ctx context.Context, j Job, i, others int) (company.GateCheck, error) {
	if !r.Canary || j.Base == "" || j.Baseline || !j.Gates[i].IsTest() {
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
	giveBack, beside := r.takeMemoryBeside(j, others+1)
	defer giveBack()
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

// Evaluate reaches a verdict on a tree for a task: from the cache where the same
// tree was judged before, else by running the gates.
func (r *Runner) Evaluate(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, tree company.OID, label string, started func(string)) (company.GateResult, error) {
	return r.evaluateTree(ctx, s, t, Job{Mirror: m, Tree: tree, Label: label, OnCheckStarted: started})
}

// evaluateTree completes a job of a task and reaches a verdict on its tree.
func (r *Runner) evaluateTree(ctx context.Context, s *company.State, t *company.Task, j Job) (company.GateResult, error) {
	image, refused, err := r.imageFor(ctx, t, j.Mirror, j.Tree)
	if err != nil {
		return company.GateResult{}, err
	}
	if refused != "" {
		return notPreparedResult(t.Prepared, j.Tree, image.Key, refused), nil
	}
	if r.LimitsByProject != nil {
		memory, disk := t.Baseline.Needs()
		r.LimitsByProject.Learn(j.Mirror.Dir(), container.Need{Memory: memory, Disk: disk})
	}
	j.Image, j.BaselineResult = image, t.Baseline
	if r.Canary {
		j.Base = t.Prepared.Base.OID
		if j.BaseImage, _, err = r.imageFor(ctx, t, j.Mirror, j.Base); err != nil {
			return company.GateResult{}, err
		}
	}
	return r.evaluateCached(ctx, s, t, j)
}

// imageFor is the image that the gates of a commit or tree of a task run in,
// or why there can be none.
func (r *Runner) imageFor(ctx context.Context, t *company.Task, m *gitops.Mirror, at company.OID) (image Image, refused string, err error) {
	if r.Images == nil || len(t.Prepared.Gates) == 0 {
		return ImageByID(t.Prepared.Image), "", nil
	}
	return r.Images.ImageForTree(ctx, t, m, at)
}

func (r *Runner) evaluateCached(ctx context.Context, s *company.State, t *company.Task, j Job) (company.GateResult, error) {
	j.Gates, j.Hash, j.Epoch = t.Prepared.Gates, t.Prepared.GateHash, s.Office.Epoch
	if hit, ok := s.GateResults[company.GateKey(j.Tree, j.Hash, j.Image.Key)]; ok {
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
