package gates

import (
	"context"
	"errors"
	"slices"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/service"
	"company/internal/ecosystem"
	"company/internal/gitops"
)

// CheckWatcher is notified of each check of a task when it starts.
type CheckWatcher interface {
	WatchCheck(t company.TaskID, sub company.SubtaskID, check string)
}

// Handler carries out gate effects. It judges the head of a subtask, merged onto the integration head if they merge,
// or the whole task.
type Handler struct {
	Decider company.Decider
	Runner  *Runner
	Mirrors gitops.MirrorSource
	Watcher CheckWatcher // for the feed
	// RedGreen runs the new tests of a change without the change, for a subtask and for a whole task. The task's own
	// settings take precedence.
	RedGreen bool
}

// NewHandler returns a handler. It fails if a required part is missing.
func NewHandler(h Handler) (*Handler, error) { return &h, company.CheckParts(h) }

var (
	_ company.OutcomeFinder = (&Handler{}).RunGates
	_ company.OutcomeFinder = (&Handler{}).RunBaseline
)

// RunGates judges the subtask or task that the effect names.
func (g *Handler) RunGates(ctx context.Context, effect company.Effect) (company.Command, error) {
	state := g.Decider.View()
	task, err := state.Task(effect.Task)
	if err != nil {
		return nil, err
	}
	mirror, err := g.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	fin := company.GateFinished{Head: task.Head, Onto: task.Head}
	label := string(task.ID)
	var tree company.OID
	if sub := task.Subtask(effect.Subtask); sub != nil {
		fin.Head, label = sub.Head, string(sub.ID)
		merged, err := g.Runner.MergeHeads(ctx, state, task, mirror, task.Head, sub.Head)
		if err != nil {
			return nil, err
		}
		// A branch that does not merge is judged alone. The merge step resolves the conflict and has the result judged
		// again.
		tree = merged.Tree
		fin.Conflict = !merged.Clean
		fin.Remade = merged.Remade
	}
	if tree == "" || fin.Conflict {
		if tree, err = mirror.Tree(ctx, fin.Head); err != nil {
			return nil, err
		}
	}
	watch := func(check string) { g.Watcher.WatchCheck(effect.Task, effect.Subtask, check) }
	if effect.Subtask != "" {
		fin.Result, err = g.Runner.EvaluateTicket(ctx, state, task, mirror, task.Head, tree, label, watch)
	} else {
		fin.Result, err = g.Runner.Evaluate(ctx, state, task, mirror, tree, label, watch)
	}
	if err != nil {
		return nil, err
	}
	fin.Result.RedGreen = nil // a cached verdict may have it from another task
	if g.wantsRedGreen(task) && fin.Result.Passed && !fin.Conflict {
		if fin.Result.RedGreen, err = g.reportRedGreen(ctx, state, task, mirror, effect.Subtask, fin.Result); err != nil {
			return nil, err
		}
	}
	return company.RecordGateResult{Task: task.ID, Subtask: effect.Subtask, GateFinished: fin}, nil
}

// wantsRedGreen reports whether the tests of a task's changes are run without the changes.
func (g *Handler) wantsRedGreen(t *company.Task) bool {
	if set := t.Settings.RedGreen; set != "" {
		return set != company.RedGreenOff
	}
	return g.RedGreen
}

// reportRedGreen finds the tests that demonstrate a change: of a subtask, relative to the integration head that it is
// merged onto, or of the whole task, relative to its base.
func (g *Handler) reportRedGreen(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, sub company.SubtaskID,
	res company.GateResult,
) (*company.RedGreen, error) {
	greenInput := redGreenInput{base: task.Prepared.Base.OID, res: res, label: string(task.ID)}
	if task.Baseline != nil {
		greenInput.known = *task.Baseline
	}
	switch {
	case sub == "":
		if known := reuseTicketReport(task, res.Tree); known != nil {
			return known, nil
		}
	default:
		greenInput.label = string(sub)
		if task.Head == greenInput.base {
			break
		}
		// The tests of earlier merged tickets do not belong to this one.
		image, _, err := g.Runner.imageFor(ctx, task, mirror, task.Head)
		if err != nil {
			return nil, err
		}
		greenInput.base, greenInput.known = task.Head,
			state.GateResults[company.GateKey(task.Tree, task.Prepared.GateHash, image.Key)]
	}
	return g.Runner.reportRedGreen(ctx, state, task, mirror, greenInput)
}

// reuseTicketReport returns the report of a task's only ticket if it has the same trees as the whole task, or nil.
func reuseTicketReport(task *company.Task, tree company.OID) *company.RedGreen {
	if len(task.Subtasks) != 1 {
		return nil
	}
	if g := task.Subtasks[0].Gate; g != nil && g.Result.Tree == tree && g.Onto == task.Prepared.Base.OID {
		return g.Result.RedGreen
	}
	return nil
}

// RunBaseline runs the gates on the base tree of a task during planning.
func (g *Handler) RunBaseline(ctx context.Context, effect company.Effect) (company.Command, error) {
	state := g.Decider.View()
	task, err := state.Task(effect.Task)
	if err != nil {
		return nil, err
	}
	mirror, err := g.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	tree, err := mirror.Tree(ctx, task.Prepared.Base.OID)
	if err != nil {
		return nil, err
	}
	image, _, err := g.Runner.imageFor(ctx, task, mirror, task.Prepared.Base.OID)
	if err != nil {
		return nil, err
	}
	if err := g.Runner.fitTree(ctx, mirror, tree); err != nil {
		return nil, err
	}
	res, err := g.Runner.evaluateCached(
		ctx, state, task,
		Job{Mirror: mirror, Tree: tree, Image: image, Label: string(task.ID), Baseline: true,
			OnCheckStarted: func(check string) {
				g.Watcher.WatchCheck(task.ID, "", check+" on the base")
			}})
	own, listErr := listOwnNames(ctx, mirror, tree)
	if listErr != nil {
		return nil, listErr
	}
	if needs := g.Runner.findMissingNeeds(ctx, task, res, err, own); !needs.IsEmpty() {
		return company.AddNeeds{Task: task.ID, NeedsAdded: needs}, nil
	}
	if err != nil {
		return nil, addImageNotes(err, task.Prepared.Notes)
	}
	if err := proposeNarrower(ctx, mirror, task.Prepared.Base.OID, task.Prepared.Gates, &res); err != nil {
		return nil, err
	}
	return company.RecordBaseline{Task: task.ID, Result: res}, nil
}

// findMissingNeeds finds servers and Debian packages that the image lacks and that a red or unstartable check of the
// base needs. With them, the verdict may change.
func (r *Runner) findMissingNeeds(
	ctx context.Context, task *company.Task, res company.GateResult, err error, own ecosystem.OwnNames,
) (found company.NeedsAdded) {
	checks := res.Checks
	if unstarted := (*startError)(nil); errors.As(err, &unstarted) {
		checks = []company.GateCheck{unstarted.check}
	}
	for _, gateCheck := range checks {
		if gateCheck.Passed {
			continue
		}
		output := r.readOutput(ctx, gateCheck)
		needs := task.Prepared.SelectLacking(
			company.Needs{Services: service.FindMissing(output), Packages: missingPackages(output, own)})
		if !needs.IsEmpty() && found.Check == "" {
			found.Check = gateCheck.Name
		}
		found.Services, found.Packages = appendNew(found.Services, needs.Services), appendNew(found.Packages, needs.Packages)
	}
	return found
}

// readOutput returns the whole output of a check, or its head and tail if the whole is not stored.
func (r *Runner) readOutput(ctx context.Context, gateCheck company.GateCheck) string {
	if r.Blobs != nil && gateCheck.Log != "" {
		if whole, err := r.Blobs.GetBlob(ctx, gateCheck.Log); err == nil {
			return string(whole)
		}
	}
	return gateCheck.Output
}

// listOwnNames returns the names of a tree's own files. A package with such a name belongs to the tree.
func listOwnNames(ctx context.Context, m *gitops.Mirror, tree company.OID) (ecosystem.OwnNames, error) {
	files, err := m.List(ctx, tree)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return ecosystem.ReadOwnNames(paths), nil
}

// appendNew appends the strings that a list lacks.
func appendNew(list, more []string) []string {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// fitTree raises the limits of a project's containers so that its tree fits.
func (r *Runner) fitTree(ctx context.Context, mirror *gitops.Mirror, tree company.OID) error {
	if r.LimitsByProject == nil {
		return nil
	}
	files, err := mirror.List(ctx, tree)
	if err != nil {
		return err
	}
	var size int64
	for _, f := range files {
		size += f.Size
	}
	r.LimitsByProject.Learn(mirror.Dir(), container.NeedOfTree(size))
	return nil
}
