package gates

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/container"
)

// runChecks runs the gates of a tree: those that read or build it, and the tests where none of these bars.
// The tests run beside them where the host has memory for both, and are
// stopped and skipped where one bars, as if they had waited. The base is measured: its
// checks run one after the other.
func (r *Runner) runChecks(ctx context.Context, j Job) ([]company.GateCheck, error) {
	checks := make([]company.GateCheck, len(j.Gates))
	var before, tests []int
	for i, g := range j.Gates {
		checks[i] = company.GateCheck{Name: g.Name, Command: g.Command}
		if !g.IsTest() {
			before = append(before, i)
		} else {
			tests = append(tests, i)
		}
	}
	run := func(ctx context.Context, which []int, others int) error {
		for _, i := range which {
			check, err := r.judgeCheck(ctx, j, i, others)
			if err != nil {
				return err
			}
			checks[i] = check
		}
		return nil
	}
	bars := func(i int) bool { return checks[i].Against(j.baselineCheck(i)) == company.ComparedFailed }
	giveBack, beside := func() {}, false
	if r.Beside && !j.Baseline && len(before) > 0 && len(tests) > 0 {
		giveBack, beside = r.takeMemoryBeside(j, 1)
	}
	defer giveBack()
	if !beside {
		if err := run(ctx, before, 0); err != nil {
			return nil, err
		}
		if !j.Baseline && slices.ContainsFunc(before, bars) {
			return skipChecks(checks, tests, j), nil
		}
		return checks, run(ctx, tests, 0)
	}

	if tell := j.OnCheckStarted; tell != nil {
		var one sync.Mutex
		j.OnCheckStarted = func(name string) { one.Lock(); defer one.Unlock(); tell(name) }
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
		return skipChecks(checks, tests, j), nil
	}
	return checks, testErr
}

// skipChecks has no result of these checks: whether one began says nothing.
func skipChecks(checks []company.GateCheck, which []int, j Job) []company.GateCheck {
	for _, i := range which {
		base := j.baselineCheck(i)
		absent := base != nil && base.Absent
		checks[i] = company.GateCheck{Name: j.Gates[i].Name, Command: j.Gates[i].Command, Absent: absent, LeftOut: absent && base.LeftOut, Skipped: !absent}
	}
	return checks
}

// judgeCheck runs one check. Others are checks that run at the same time.
func (r *Runner) judgeCheck(ctx context.Context, j Job, i, others int) (company.GateCheck, error) {
	g, base := j.Gates[i], j.baselineCheck(i)
	if base != nil && base.Absent {
		return company.GateCheck{Name: g.Name, Command: g.Command, Absent: true, LeftOut: base.LeftOut}, nil
	}
	narrow, part, err := r.narrowCheck(ctx, j, i)
	if err != nil {
		return company.GateCheck{}, err
	}
	check, decided := company.GateCheck{}, false
	if part != nil {
		ran := &company.TestPart{Ran: len(part.Names), Of: part.Of, Unit: part.Unit}
		j.tellStart(g.Name + " (" + ran.String() + ")")
		check, err = r.checkAndProve(ctx, narrow, i, others)
		check.Part, decided = ran, err != nil || narrow.isDecidedBy(i, check)
	}
	if !decided {
		j.tellStart(g.Name)
		check, err = r.checkAndProve(ctx, j, i, others)
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

// takeMemoryBeside takes memory for one more check beside others, each in a container of
// the size that the project's have come to, where the host has it for all of them.
func (r *Runner) takeMemoryBeside(j Job, others int) (giveBack func(), ok bool) {
	size := r.limitsFor(j).WithDefaults().MemoryBytes
	return cmp.Or(r.Memory, container.HostMemory).Lend(size, int64(others)*size)
}

// limitsFor are the limits of a job's containers.
func (r *Runner) limitsFor(j Job) container.Limits {
	if r.LimitsByProject == nil {
		return r.Limits
	}
	return r.LimitsByProject.Of(j.Mirror.Dir())
}
