package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"company/internal/company"
)

// compareStep compares a decided step with the recorded one.
func (d *Director) compareStep(ctx context.Context, was step, now company.Data) error {
	differs := func(what string, recorded, replayed any) error {
		return d.reportDivergence(
			Divergence{Run: was.run, Subtask: was.subtask, What: what + " is another", Recorded: fmt.Sprint(recorded),
				Replayed: fmt.Sprint(replayed)})
	}
	switch now := now.(type) {
	case *company.TaskBased:
		if rec := was.data.(*company.TaskBased); rec.GateHash != now.GateHash {
			return differs("the definition of the gates", commandsOf(rec.Gates), commandsOf(now.Gates))
		}
	case *company.TaskPrepared:
		if rec := was.data.(*company.TaskPrepared); rec.Image != now.Image {
			d.addWarning(Warning{What: "the image is another", Recorded: rec.Image, Replayed: now.Image})
		}
	case *company.BaselineRecorded:
		return d.compareVerdict(was, was.data.(*company.BaselineRecorded).Result, now.Result, differs)
	case *company.GateFinished:
		return d.compareVerdict(was, was.data.(*company.GateFinished).Result, now.Result, differs)
	case *company.MergeGated:
		return d.compareVerdict(was, was.data.(*company.MergeGated).Result, now.Result, differs)
	case *company.StackRed:
		return d.compareVerdict(was, was.data.(*company.StackRed).Result, now.Result, differs)
	case *company.StackIntended:
		return d.compareVerdict(was, was.data.(*company.StackIntended).Result, now.Result, differs)
	case *company.ReviewRecorded:
		if rec := was.data.(*company.ReviewRecorded); rec.Verdict != now.Verdict {
			return differs("the verdict of the review", rec.Verdict, now.Verdict)
		}
	case *company.PlanAccepted:
		before, _ := company.HashOf(was.data)
		after, _ := company.HashOf(now)
		if before != after {
			return differs("the plan", before, after)
		}
	case *company.ConflictReported:
		if rec := was.data.(*company.ConflictReported); !slices.Equal(rec.Paths, now.Paths) {
			return differs("the conflict", rec.Paths, now.Paths)
		}
	case *company.RunEnded:
		return d.compareRun(ctx, was, was.data.(*company.RunEnded), now, differs)
	case *company.MergeRecorded:
		rec := was.data.(*company.MergeRecorded)
		tree, err := d.compareCommit(ctx, rec.Commit, now.Commit, differs)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.report.Merges = append(d.report.Merges, Merge{Subtask: was.subtask, Commit: now.Commit, Tree: tree})
		d.report.Head, d.report.Tree = now.Commit, tree
		return err
	}
	return nil
}

type differ func(what string, recorded, replayed any) error

// compareRun compares the end of a run with the recorded one.
func (d *Director) compareRun(ctx context.Context, was step, rec, now *company.RunEnded, differs differ) error {
	d.mu.Lock()
	run := Run{Run: was.run, Requests: d.requests[was.run], Status: now.Status, Head: now.Head}
	d.mu.Unlock()
	var err error
	switch {
	case rec.Status != now.Status:
		err = differs("the end of the run", string(rec.Status)+" "+rec.Error, string(now.Status)+" "+now.Error)
	case (rec.Head == "") != (now.Head == ""):
		err = differs("the work of the run", rec.Head, now.Head)
	case now.Head != "":
		run.Tree, err = d.compareCommit(ctx, rec.Head, now.Head, differs)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.Runs = append(d.report.Runs, run)
	return err
}

// compareCommit compares the trees of two commits. Commits with the same id have the same tree.
func (d *Director) compareCommit(
	ctx context.Context, rec, now company.OID, differs differ,
) (tree company.OID, err error) {
	tree, err = d.trees.ReplayedTree(ctx, now)
	if err != nil {
		return tree, d.reportDivergence(
			Divergence{What: "the tree of the commit " + now.Short() + " cannot be read: " + err.Error()})
	}
	if rec == now {
		return tree, nil
	}
	before, err := d.trees.RecordedTree(ctx, rec)
	if err != nil {
		return tree, d.reportDivergence(
			Divergence{What: "the tree of the recorded commit " + rec.Short() + " cannot be compared: " + err.Error()})
	}
	if before != tree {
		return tree, differs("the tree of the commit", before, tree)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits[rec] = now
	return tree, nil
}

// compareVerdict compares a gate verdict with the recorded one.
func (d *Director) compareVerdict(was step, rec, now company.GateResult, differs differ) error {
	check := Check{Subtask: was.subtask, Event: was.kind, Tree: now.Tree, Passed: now.Passed, Exits: []int{}}
	for _, c := range now.Checks {
		check.Exits = append(check.Exits, c.ExitCode)
	}
	d.mu.Lock()
	d.report.Checks = append(d.report.Checks, check)
	d.mu.Unlock()
	if rec.Tree != now.Tree {
		return differs("the tree that the gates judged", rec.Tree, now.Tree)
	}
	if before, after := describeVerdict(rec), describeVerdict(now); before != after {
		return differs("the verdict of the gates", before, after)
	}
	return nil
}

// describeVerdict formats a verdict without output and times, which vary between runs.
func describeVerdict(gateResult company.GateResult) string {
	text := "red"
	if gateResult.AllowsMerge() {
		text = "green"
	}
	for _, gateCheck := range gateResult.Checks {
		text += ", " + gateCheck.Name + " " + strconv.Itoa(gateCheck.ExitCode)
		if gateCheck.Skipped {
			text += " skipped"
		}
		if gateCheck.Absent {
			text += " absent"
		}
	}
	return text
}

func commandsOf(gates []company.GateCommand) []string {
	var out []string
	for _, g := range gates {
		out = append(out, g.Name+": "+g.Command)
	}
	return out
}
