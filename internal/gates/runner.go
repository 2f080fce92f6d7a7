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
	// LimitsByProject holds limits per project that replace Limits. They grow with the needs of the project's checks. If
	// nil, Limits apply to all.
	LimitsByProject *container.Sizes `part:"optional"`
	Timeout         time.Duration    // limit for one run of a check; 0 means 30 min
	// Blobs stores the full output of each check and the names of its tests. If nil, neither is stored, and missing
	// tests are not detected.
	Blobs  Blobs `part:"optional"`
	Logger *slog.Logger
	// Images returns the images that trees are judged in. If it refuses dependencies, the verdict is red. If nil, the
	// task's own image judges every tree.
	Images ImageSource `part:"optional"`
	// Files regenerates lock files and generated files that both sides of a merge have changed. If nil, these files are
	// conflicts.
	Files FileMaker `part:"optional"`
	// Beside lets the tests of a tree run beside its linters if the host has memory for both.
	Beside bool
	// Memory lends memory to containers that run beside others. Nil means this host's memory.
	Memory *container.MemoryBook `part:"optional"`
	// Canary requires gates to prove that they cover the files that a change touches.
	Canary bool
	// FirstStepAfter is the minimum duration of the base's tests from which a subtask's tests are run in two steps. 0
	// means never.
	FirstStepAfter time.Duration
	// Record is set in a replay. It tells which checks ran only a part, because the base's duration differs there.
	Record Record `part:"optional"`
}

// NewRunner returns a runner. It fails if a required part is missing.
func NewRunner(r Runner) (*Runner, error) { return &r, company.CheckParts(r) }

// Record is the record of a replayed task.
type Record interface {
	// RanPart reports whether a check of a subtask's gate ran only a part of its tests on a tree. known is false if the
	// record does not have this check.
	RanPart(tree company.OID, check int) (part, known bool)
}

// Blobs stores outputs under their hashes.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (company.Hash, error)
	GetBlob(ctx context.Context, h company.Hash) ([]byte, error)
}

// Image is an image of the local container daemon.
type Image struct {
	// Key names it in verdicts and for warm containers. It is the same wherever the image is built.
	Key string
	ID  string // the daemon's id, which containers are made from
}

// ImageByID returns an image that is known only by its id.
func ImageByID(id string) Image { return Image{Key: id, ID: id} }

// ImageSource finds the image for a commit or a tree of a task.
type ImageSource interface {
	// ImageForTree returns the image for a tree, and rebuilds it if it was removed. If the tree's dependencies are not
	// allowed, it returns the task's own image, and refused names them.
	ImageForTree(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID) (
		image Image, refused string, err error)
}

// Job describes one tree to judge.
type Job struct {
	Mirror *gitops.Mirror
	Tree   company.OID
	Files  []gitops.Entry // the files to run instead of the tree's; nil means the tree's
	Gates  []company.GateCommand
	Hash   company.Hash
	Image  Image
	Label  string // the subtask or task that owns the containers
	Epoch  uint64
	// Base is the commit before the change, and BaseImage the image that it is judged in. If both are known, the gate
	// must show that it covers the files that the change touches.
	Base       company.OID
	BaseImage  Image
	ExtraFiles []gitops.Text // tests that must fail, added to the tree's files
	// BaselineResult is the baseline that the tree is compared with. If Baseline is set, the tree is the base itself:
	// every check is run, and each must be able to run.
	BaselineResult *company.GateResult
	Baseline       bool
	// Since is a tested commit. Of slow tests, only those that a change since then can affect are run. If empty, all are
	// run.
	Since    company.OID
	part     *ecosystem.TestPart // the part of the current check to run; nil means all of it
	services bool                // whether the tests of a check share services
	// OnCheckStarted is called before each check, for the feed. It may be nil.
	OnCheckStarted func(name string)
}

// baselineCheck returns the baseline's check at this index, or nil.
func (j Job) baselineCheck(i int) *company.GateCheck {
	if j.BaselineResult == nil || i >= len(j.BaselineResult.Checks) {
		return nil
	}
	return &j.BaselineResult.Checks[i]
}

// Run judges a tree. An error means that no verdict could be reached, for example because the daemon is gone or the
// container ran out of memory. That is not the fault of the work, and the effect is retried.
func (r *Runner) Run(ctx context.Context, job Job) (company.GateResult, error) {
	checks, err := r.runChecks(ctx, job)
	if err != nil {
		return company.GateResult{}, err
	}
	res := company.GateResult{Tree: job.Tree, GateHash: job.Hash, Image: job.Image.Key, Checks: checks}
	return res.Settle(job.BaselineResult, nil), nil
}

// RunOnce runs the first check of a job once and returns the names of the tests that passed, as far as its report
// names them. The check may be red. An error means that no verdict could be reached.
func (r *Runner) RunOnce(ctx context.Context, j Job) (check company.GateCheck, passed []string, err error) {
	check, res, err := r.runCheck(ctx, j, 0, 0)
	if err == nil && res != nil && check.Counts != nil {
		passed = res.Passed
	}
	return check, passed, err
}

// checkAndProve runs a check and, if required, has it prove that it covers the files that the change touches. The
// proof runs beside the check if the host has memory for both, else after it. A failed check needs no proof. others
// is the number of checks that run at the same time.
func (r *Runner) checkAndProve(ctx context.Context, job Job, i, others int) (company.GateCheck, error) {
	if !r.Canary || job.Base == "" || job.Baseline || !job.Gates[i].IsTest() {
		return r.runWithReruns(ctx, job, i)
	}
	cctx, stop := context.WithCancel(ctx)
	defer stop()
	var canary *company.Canary
	prove := func() (err error) {
		canary, err = r.runCanary(cctx, job, i)
		return err
	}
	proof := make(chan error, 1)
	giveBack, beside := r.takeMemoryBeside(job, others+1)
	defer giveBack()
	if beside {
		go func() { proof <- company.Guard("proving a gate", prove) }()
	}
	check, err := r.runWithReruns(ctx, job, i)
	if err != nil || check.Against(job.baselineCheck(i)) == company.ComparedFailed {
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

// Evaluate returns a verdict on a tree for a task: from the cache if the same tree was judged before, else by running
// the gates.
func (r *Runner) Evaluate(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, tree company.OID, label string,
	started func(string),
) (company.GateResult, error) {
	return r.evaluateTree(ctx, state, task, Job{Mirror: mirror, Tree: tree, Label: label, OnCheckStarted: started})
}

// evaluateTree completes a job of a task and returns a verdict on its tree.
func (r *Runner) evaluateTree(
	ctx context.Context, state *company.State, task *company.Task, job Job,
) (company.GateResult, error) {
	image, refused, err := r.imageFor(ctx, task, job.Mirror, job.Tree)
	if err != nil {
		return company.GateResult{}, err
	}
	if refused != "" {
		return notPreparedResult(task.Prepared, job.Tree, image.Key, refused), nil
	}
	if r.LimitsByProject != nil {
		memory, disk := task.Baseline.Needs()
		r.LimitsByProject.Learn(job.Mirror.Dir(), container.Need{Memory: memory, Disk: disk})
	}
	job.Image, job.BaselineResult = image, task.Baseline
	if r.Canary {
		job.Base = task.Prepared.Base.OID
		if job.BaseImage, _, err = r.imageFor(ctx, task, job.Mirror, job.Base); err != nil {
			return company.GateResult{}, err
		}
	}
	return r.evaluateCached(ctx, state, task, job)
}

// imageFor returns the image that the gates of a commit or tree run in, or the reason why there is none.
func (r *Runner) imageFor(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, at company.OID,
) (image Image, refused string, err error) {
	if r.Images == nil || len(task.Prepared.Gates) == 0 {
		return ImageByID(task.Prepared.Image), "", nil
	}
	return r.Images.ImageForTree(ctx, task, mirror, at)
}

func (r *Runner) evaluateCached(
	ctx context.Context, state *company.State, task *company.Task, job Job,
) (company.GateResult, error) {
	job.Gates = task.Prepared.Gates
	job.Hash = task.Prepared.GateHash
	job.Epoch = state.Office.Epoch
	if hit, ok := state.GateResults[company.GateKey(job.Tree, job.Hash, job.Image.Key)]; ok {
		if hit, ok = state.Reuse(task, hit, job.BaselineResult); ok {
			return r.proveCached(ctx, state, task, job, hit)
		}
	}
	res, err := r.Run(ctx, job)
	if err != nil {
		return res, err
	}
	return state.Settle(task, res), nil
}

// notPreparedResult returns a red verdict, without running a check, for a tree whose dependencies are not allowed or
// unavailable. The exit code 126 means that a command could not start, so no baseline excuses it.
func notPreparedResult(taskPrepared *company.TaskPrepared, tree company.OID, image, reason string) company.GateResult {
	res := company.GateResult{Tree: tree, GateHash: taskPrepared.GateHash, Image: image}
	for i, g := range taskPrepared.Gates {
		gateCheck := company.GateCheck{Name: g.Name, Command: g.Command, Skipped: i > 0}
		if i == 0 {
			gateCheck.ExitCode, gateCheck.Output = 126, reason
		}
		res.Checks = append(res.Checks, gateCheck)
	}
	return res
}
