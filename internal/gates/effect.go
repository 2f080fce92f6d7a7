package gates

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops"
	"company/internal/service"
)

// CheckWatcher follows the checks of tasks as they begin.
type CheckWatcher interface {
	WatchCheck(t company.TaskID, sub company.SubtaskID, check string)
}

// Handler carries out gate effects: on the head of a subtask, merged onto the
// integration head where it merges, or on the whole task.
type Handler struct {
	Decider company.Decider
	Runner  *Runner
	Mirrors gitops.MirrorSource
	Watcher CheckWatcher // for the feed
	// RedGreen has the new tests of a change run without it, of a ticket and of a whole
	// task, where the task's own settings do not say.
	RedGreen bool
	// EarlyAfter is how long the checks may take on a base before workers begin; 0:
	// as the task has it.
	EarlyAfter time.Duration
}

// NewHandler checks that a handler has what it needs.
func NewHandler(h Handler) (*Handler, error) { return &h, company.CheckParts(h) }

var (
	_ company.OutcomeFinder = (&Handler{}).RunGates
	_ company.OutcomeFinder = (&Handler{}).RunBaseline
)

// RunGates judges what the effect names.
func (g *Handler) RunGates(ctx context.Context, e company.Effect) (company.Command, error) {
	s := g.Decider.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	fin := company.GateFinished{Head: t.Head, Onto: t.Head}
	label := string(t.ID)
	var tree company.OID
	if sub := t.Subtask(e.Subtask); sub != nil {
		fin.Head, label = sub.Head, string(sub.ID)
		merged, err := g.Runner.MergeHeads(ctx, s, t, m, t.Head, sub.Head)
		if err != nil {
			return nil, err
		}
		// A branch that does not merge is judged by itself; the merge step
		// resolves it and has the result judged again.
		tree, fin.Conflict, fin.Remade = merged.Tree, !merged.Clean, merged.Remade
	}
	if tree == "" || fin.Conflict {
		if tree, err = m.Tree(ctx, fin.Head); err != nil {
			return nil, err
		}
	}
	watch := func(check string) { g.Watcher.WatchCheck(e.Task, e.Subtask, check) }
	if e.Subtask != "" {
		fin.Result, err = g.Runner.EvaluateTicket(ctx, s, t, m, t.Head, tree, label, watch)
	} else {
		fin.Result, err = g.Runner.Evaluate(ctx, s, t, m, tree, label, watch)
	}
	if err != nil {
		return nil, err
	}
	fin.Result.RedGreen = nil // of another task, where the verdict is the cache's
	if g.wantsRedGreen(t) && fin.Result.Passed && !fin.Conflict {
		if fin.Result.RedGreen, err = g.reportRedGreen(ctx, s, t, m, e.Subtask, fin.Result); err != nil {
			return nil, err
		}
	}
	return company.RecordGateResult{Task: t.ID, Subtask: e.Subtask, GateFinished: fin}, nil
}

// wantsRedGreen says whether the tests of a task's changes are run without them.
func (g *Handler) wantsRedGreen(t *company.Task) bool {
	if set := t.Settings.RedGreen; set != "" {
		return set != company.RedGreenOff
	}
	return g.RedGreen
}

// reportRedGreen finds out what the tests of a ticket show, against the integration
// head that it is merged onto; or those of the whole, against the task's base.
func (g *Handler) reportRedGreen(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, sub company.SubtaskID, res company.GateResult) (*company.RedGreen, error) {
	c := redGreenInput{base: t.Prepared.Base.OID, res: res, label: string(t.ID)}
	if t.Baseline != nil {
		c.known = *t.Baseline
	}
	switch {
	case sub == "":
		if known := reuseTicketReport(t, res.Tree); known != nil {
			return known, nil
		}
	default:
		c.label = string(sub)
		if t.Head == c.base {
			break
		}
		// The tests of tickets that were merged before are not this one's.
		image, _, err := g.Runner.imageFor(ctx, t, m, t.Head)
		if err != nil {
			return nil, err
		}
		c.base, c.known = t.Head, s.GateResults[company.GateKey(t.Tree, t.Prepared.GateHash, image.Key)]
	}
	return g.Runner.reportRedGreen(ctx, s, t, m, c)
}

// reuseTicketReport is what the tests of a task's only ticket show, where it and
// the whole are the same trees, or nil.
func reuseTicketReport(t *company.Task, tree company.OID) *company.RedGreen {
	if len(t.Subtasks) != 1 {
		return nil
	}
	if g := t.Subtasks[0].Gate; g != nil && g.Result.Tree == tree && g.Onto == t.Prepared.Base.OID {
		return g.Result.RedGreen
	}
	return nil
}

// RunBaseline runs the gates on the base tree of a task, while it is planned.
func (g *Handler) RunBaseline(ctx context.Context, e company.Effect) (company.Command, error) {
	s := g.Decider.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	tree, err := m.Tree(ctx, t.Prepared.Base.OID)
	if err != nil {
		return nil, err
	}
	image, _, err := g.Runner.imageFor(ctx, t, m, t.Prepared.Base.OID)
	if err != nil {
		return nil, err
	}
	if err := g.Runner.fitTree(ctx, m, tree); err != nil {
		return nil, err
	}
	defer g.startEarly(ctx, t)()
	res, err := g.Runner.evaluateCached(ctx, s, t, Job{Mirror: m, Tree: tree, Image: image, Label: string(t.ID), Baseline: true, OnCheckStarted: func(check string) {
		g.Watcher.WatchCheck(t.ID, "", check+" on the base")
	}})
	if err != nil {
		return nil, addImageNotes(err, t.Prepared.Notes)
	}
	if missing, check := g.Runner.findMissingServices(ctx, t, res); len(missing) > 0 {
		return company.RequireServices{Task: t.ID, ServicesRequired: company.ServicesRequired{Services: missing, Check: check}}, nil
	}
	if err := proposeNarrower(ctx, m, t.Prepared.Base.OID, t.Prepared.Gates, &res); err != nil {
		return nil, err
	}
	return company.RecordBaseline{Task: t.ID, Result: res}, nil
}

// startEarly has the workers of a task begin where its base is not judged in a while. stop ends
// that, and waits for it.
func (g *Handler) startEarly(ctx context.Context, t *company.Task) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(cmp.Or(g.EarlyAfter, t.WaitForBase())):
			// What goes wrong is no reason to end the checks: workers wait for the verdict.
			_ = company.Guard("having workers begin", func() error {
				_, err := g.Decider.Do(ctx, company.Company, company.StartEarly{Task: t.ID, EarlyStart: company.EarlyStart{Base: t.Prepared.Base.OID}})
				return err
			})
		}
	})
	return func() {
		cancel()
		beside.Wait()
	}
}

// findMissingServices names servers that the task's containers have not, and that a red check of its
// base looked for in vain: with them its verdict may be another one.
func (r *Runner) findMissingServices(ctx context.Context, t *company.Task, res company.GateResult) (missing []string, check string) {
	if !t.Prepared.MoreServices {
		return nil, ""
	}
	for _, c := range res.Checks {
		if c.Passed {
			continue
		}
		output := c.Output
		if r.Blobs != nil && c.Log != "" {
			if whole, err := r.Blobs.GetBlob(ctx, c.Log); err == nil {
				output = string(whole)
			}
		}
		for _, name := range service.FindMissing(output) {
			if !slices.Contains(t.Prepared.Services, name) && !slices.Contains(missing, name) {
				missing, check = append(missing, name), cmp.Or(check, c.Name)
			}
		}
	}
	return missing, check
}

// fitTree gives a project's containers room for its tree.
func (r *Runner) fitTree(ctx context.Context, m *gitops.Mirror, tree company.OID) error {
	if r.LimitsByProject == nil {
		return nil
	}
	files, err := m.List(ctx, tree)
	if err != nil {
		return err
	}
	var size int64
	for _, f := range files {
		size += f.Size
	}
	r.LimitsByProject.Learn(m.Dir(), container.NeedOfTree(size))
	return nil
}
