package gates

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/container"
)

// runChecks runs the gates of a tree: first those that read or build it, then the tests unless one of the first
// fails. If the host has memory for both, the tests run beside the others, and are stopped and skipped if one of
// those fails. On the base, checks always run one after the other, because they are measured.
func (r *Runner) runChecks(ctx context.Context, job Job) ([]company.GateCheck, error) {
	checks := make([]company.GateCheck, len(job.Gates))
	var before, tests []int
	for i, gateCommand := range job.Gates {
		checks[i] = company.GateCheck{Name: gateCommand.Name, Command: gateCommand.Command}
		if !gateCommand.IsTest() {
			before = append(before, i)
		} else {
			tests = append(tests, i)
		}
	}
	run := func(ctx context.Context, which []int, others int) error {
		for _, i := range which {
			check, err := r.judgeCheck(ctx, job, i, others)
			if err != nil {
				return err
			}
			checks[i] = check
		}
		return nil
	}
	bars := func(i int) bool { return checks[i].Against(job.baselineCheck(i)) == company.ComparedFailed }
	giveBack, beside := func() {}, false
	if r.Beside && !job.Baseline && len(before) > 0 && len(tests) > 0 {
		giveBack, beside = r.takeMemoryBeside(job, 1)
	}
	defer giveBack()
	if !beside {
		if err := run(ctx, before, 0); err != nil {
			return nil, err
		}
		if !job.Baseline && slices.ContainsFunc(before, bars) {
			return skipChecks(checks, tests, job), nil
		}
		return checks, run(ctx, tests, 0)
	}

	if tell := job.OnCheckStarted; tell != nil {
		var one sync.Mutex
		job.OnCheckStarted = func(name string) { one.Lock(); defer one.Unlock(); tell(name) }
	}
	tctx, stop := context.WithCancel(ctx)
	defer stop()
	tested := make(chan error, 1)
	go func() {
		tested <- company.Guard("testing beside other checks", func() error { return run(tctx, tests, 1) })
	}()
	err := run(ctx, before, 1)
	barred := err == nil && slices.ContainsFunc(before, bars)
	if err != nil || barred {
		stop()
	}
	testErr := <-tested
	switch {
	case err != nil:
		return nil, err
	case barred:
		return skipChecks(checks, tests, job), nil
	}
	return checks, testErr
}

// skipChecks marks these checks as skipped. A result of a started one is discarded.
func skipChecks(checks []company.GateCheck, which []int, job Job) []company.GateCheck {
	for _, i := range which {
		if base := job.baselineCheck(i); base != nil && base.Absent {
			checks[i] = keepAbsent(*base)
		} else {
			checks[i] = company.GateCheck{Name: job.Gates[i].Name, Command: job.Gates[i].Command, Skipped: true}
		}
	}
	return checks
}

// judgeCheck runs one check. others is the number of checks that run at the same time.
func (r *Runner) judgeCheck(ctx context.Context, job Job, i, others int) (company.GateCheck, error) {
	gateCommand, base := job.Gates[i], job.baselineCheck(i)
	if base != nil && base.Absent {
		return keepAbsent(*base), nil
	}
	narrow, part, err := r.narrowCheck(ctx, job, i)
	if err != nil {
		return company.GateCheck{}, err
	}
	check, decided := company.GateCheck{}, false
	if part != nil {
		ran := &company.TestPart{Ran: len(part.Names), Of: part.Of, Unit: part.Unit}
		job.tellStart(gateCommand.Name + " (" + ran.String() + ")")
		check, err = r.checkAndProve(ctx, narrow, i, others)
		check.Part, decided = ran, err != nil || narrow.isDecidedBy(i, check)
	}
	if !decided {
		job.tellStart(gateCommand.Name)
		check, err = r.checkAndProve(ctx, job, i, others)
	}
	if err == nil && check.Against(base) == company.ComparedUnreadable {
		check.Beside, err = r.newOutputLines(ctx, check, *base)
	}
	return check, err
}

func (j Job) tellStart(check string) {
	if j.OnCheckStarted != nil {
		j.OnCheckStarted(check)
	}
}

// takeMemoryBeside reserves memory for one more check beside others if the host has it for all of them. Each check
// has a container of the project's current size. The caller must call giveBack.
func (r *Runner) takeMemoryBeside(j Job, others int) (giveBack func(), ok bool) {
	size := r.limitsFor(j).WithDefaults().MemoryBytes
	return cmp.Or(r.Memory, container.HostMemory).Lend(size, int64(others)*size)
}

// limitsFor returns the limits of a job's containers.
func (r *Runner) limitsFor(job Job) container.Limits {
	if r.LimitsByProject == nil {
		return r.Limits
	}
	return r.LimitsByProject.Of(job.Mirror.Dir())
}
