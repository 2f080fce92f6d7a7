package merger

import (
	"context"
	"errors"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/gitops"
)

// foresight holds the running tests ahead of a merge and their results. It exists only in memory. Results that
// are lost with the process are computed again.
type foresight struct {
	mu      sync.Mutex
	visions []*vision
}

// vision is one test ahead of a merge.
type vision struct {
	effect company.Effect
	drop   context.CancelFunc // cancels its gates
	ready  chan struct{}      // closed when the tree is known, or when none will be judged
	tree   company.OID        // empty if no tree is judged
	done   chan struct{}      // closed when there is a verdict, or when none will come
	result *company.GateResult
}

// keepVision adds a vision. The returned function removes it.
func (f *foresight) keepVision(v *vision) (forget func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visions = append(f.visions, v)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.visions = slices.DeleteFunc(f.visions, func(o *vision) bool { return o == v })
	}
}

// listOf returns the visions that begin with the same subtask as a test, with its current head.
func (f *foresight) listOf(test company.Effect) (out []*vision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.visions {
		if v.effect.Confirms(test) {
			out = append(out, v)
		}
	}
	return out
}

// findVerdict waits for the verdict on a tree that is tested ahead. It returns nil if there is none. It cancels
// a test ahead of the same subtasks on another tree, because that result is not needed.
func (f *foresight) findVerdict(ctx context.Context, test company.Effect, tree company.OID) *company.GateResult {
	var found *company.GateResult
	for _, vision := range f.listOf(test) {
		select {
		case <-vision.ready:
		case <-ctx.Done():
			return nil
		}
		if vision.tree != tree {
			vision.drop()
		}
		select { // also wait for a cancelled test, because its containers have the same names
		case <-vision.done:
		case <-ctx.Done():
			return nil
		}
		if vision.tree == tree && vision.result != nil {
			found = vision.result
		}
	}
	return found
}

// LookAhead judges the tree that queued subtasks would produce after the merges under test, while these are
// tested. The verdict is kept until ctx ends, even after the return, for a later merge test of exactly this
// tree. An error means that there is no verdict. LookAhead decides no merge.
func (g *Merger) LookAhead(ctx context.Context, effect company.Effect) error {
	testing, drop := context.WithCancel(ctx)
	defer drop()
	v := &vision{effect: effect, drop: drop, ready: make(chan struct{}), done: make(chan struct{})}
	forget := g.foresight.keepVision(v)
	err := g.judgeAhead(testing, v)
	if err == nil && v.result == nil {
		err = errNothingToJudge
	}
	if err != nil {
		forget()
		return err
	}
	context.AfterFunc(ctx, forget)
	return nil
}

// errNothingToJudge ends a test ahead whose subtasks do not merge, or have changed.
var errNothingToJudge = errors.New("merger: there is no tree to judge ahead")

// judgeAhead computes the tree and the verdict of a vision, and closes its channels.
func (g *Merger) judgeAhead(ctx context.Context, v *vision) error {
	ready := sync.OnceFunc(func() { close(v.ready) })
	defer close(v.done)
	defer ready() // also after an error: a test may wait for it
	task, mirror, tree, err := g.treeAhead(ctx, v.effect)
	v.tree = tree
	ready()
	if err != nil || tree == "" {
		return err
	}
	result, err := g.Runner.Evaluate(
		ctx, g.Decider.View(), task, mirror, tree, string(v.effect.Subtask), func(check string) {
			g.Watcher.WatchCheck(task.ID, v.effect.Subtask, check+" ahead of the merges under test")
		})
	if err == nil {
		v.result = &result
	}
	return err
}

// treeAhead merges the subtasks that a test ahead assumes, and then those that it tests. It returns no tree if
// they do not merge, or need not be judged any more.
func (g *Merger) treeAhead(
	ctx context.Context, effect company.Effect,
) (task *company.Task, mirror *gitops.Mirror, tree company.OID, err error) {
	task, err = g.Decider.View().Task(effect.Task)
	if err != nil || task.Head != effect.Onto { // the merge test that follows may already be under way
		return task, nil, "", err
	}
	before, after := subtasksAt(task, effect.Assumes), subtasksAt(task, effect.Stack)
	if before == nil || after == nil {
		return task, nil, "", nil
	}
	if mirror, err = g.Mirrors.MirrorOf(ctx, task); err != nil {
		return task, nil, "", err
	}
	first, err := g.pileUp(ctx, task, mirror, effect.Onto, before)
	if err != nil || !first.isTestable() {
		return task, mirror, "", err
	}
	at := effect.Onto
	for _, member := range first.members {
		if at, err = passingMerge(ctx, mirror, task, at, member); err != nil {
			return task, mirror, "", err
		}
	}
	second, err := g.pileUp(ctx, task, mirror, at, after)
	if err != nil || !second.isTestable() {
		return task, mirror, "", err
	}
	return task, mirror, second.lastTree(), nil
}

// subtasksAt returns the subtasks with these heads. It returns nil if a subtask has another head by now.
func subtasksAt(task *company.Task, heads []company.QueuedHead) []*company.Subtask {
	var out []*company.Subtask
	for _, queuedHead := range heads {
		sub := task.Subtask(queuedHead.Subtask)
		if sub == nil || sub.Head != queuedHead.Head {
			return nil
		}
		out = append(out, sub)
	}
	return out
}
