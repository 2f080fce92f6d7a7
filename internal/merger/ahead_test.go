package merger_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/merger/mergertest"
)

// someday is later than all that a bundle does.
var someday = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// aheadOf is the test ahead of a test, of those that it has not taken up.
func aheadOf(b *mergertest.Bundle, test company.Effect) company.Effect {
	b.T.Helper()
	all := company.ListTestsAhead(b.View(), someday, []company.Effect{test})
	if len(all) != 1 {
		b.T.Fatalf("%d tests ahead", len(all))
	}
	return all[0]
}

// dueTest is the test of the next merge, which takes up the first n of the queue.
func dueTest(b *mergertest.Bundle, n int) company.Effect {
	b.T.Helper()
	for _, e := range company.Due(b.View(), someday, 9) {
		if e.Kind == company.EffectTestMerge {
			e.Stack = e.Stack[:n]
			return e
		}
	}
	b.T.Fatal("no test of a merge is due")
	return company.Effect{}
}

// startTest starts a test of a merge, and gives its outcome.
func startTest(b *mergertest.Bundle, e company.Effect) (outcome func() company.Command) {
	type result struct {
		c   company.Command
		err error
	}
	done := make(chan result, 1)
	go func() {
		c, err := b.Merger.Test(b.T.Context(), e)
		done <- result{c, err}
	}()
	return func() company.Command {
		b.T.Helper()
		select {
		case r := <-done:
			if r.err != nil {
				b.T.Fatal(r.err)
			}
			return r.c
		case <-time.After(time.Minute):
			b.T.Fatal("the test has no outcome")
			return nil
		}
	}
}

// startAhead starts a test ahead. What it gives ends it, as the loop does.
func startAhead(b *mergertest.Bundle, e company.Effect) (end func() error) {
	ctx, cancel := context.WithCancelCause(b.T.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Merger.LookAhead(ctx, e) }()
	end = sync.OnceValue(func() error { cancel(errors.New("vain")); return <-ended })
	b.T.Cleanup(func() { _ = end() })
	return end
}

func checkLog(t *testing.T, c *mergertest.Containers, want ...string) {
	t.Helper()
	if got := c.Log(); !slices.Equal(got, want) {
		t.Errorf("the gates ran as %q, not %q", got, want)
	}
}

// While the first is tested, the gates of those behind it run on the tree that is
// assumed. Once it is merged their verdict is the next test's: the gates of that tree run
// once, and begin before those of the first end (REV-6).
func TestVerdictAheadIsUsed(t *testing.T) {
	t.Parallel()
	for name, judged := range map[string]bool{"before the first": true, "after the first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := mergertest.NewStacked(t)
			heads := queueThree(b)
			first, whole := treeOfAll(b, heads[0], heads[1]), treeOfAll(b, heads...)
			gates := b.UseContainers()
			test := dueTest(b, 2)
			outcome := startTest(b, test)
			gates.Begins(first)
			startAhead(b, aheadOf(b, test))
			gates.Begins(whole)
			if judged {
				gates.End(whole, 0)
			}
			gates.End(first, 0)
			b.Must(outcome())
			b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
			outcome = startTest(b, dueTest(b, 1))
			if !judged {
				gates.End(whole, 0)
			}
			got, ok := outcome().(company.RecordMergeGate)
			if !ok || !got.Result.Passed || got.Result.Cached || got.Tree != whole || got.Onto != b.Task(mergertest.Task).Head ||
				got.Onto == test.Onto {
				t.Fatalf("%+v", got)
			}
			b.Must(got)
			b.Must(b.CarryOut(b.Merger.Merge, mergertest.Three))
			if tree := b.Project.Tree(b.Ref()); tree != whole || b.Task(mergertest.Task).Tree != whole {
				t.Errorf("merged is %s, not the tree that was judged", tree)
			}
			log := gates.Log()
			if !slices.Equal(log[:2], []string{"begin " + first.Short(), "begin " + whole.Short()}) || len(log) != 4 {
				t.Errorf("the gates ran as %q", log)
			}
		})
	}
}

// startBoth starts the test of the first two of three, and the test of the third ahead.
func startBoth(
	b *mergertest.Bundle, change func(*company.Effect),
) (c *mergertest.Containers, first company.OID, outcome func() company.Command, ahead company.Effect,
	end func() error) {
	b.T.Helper()
	heads := queueThree(b)
	first = treeOfAll(b, heads[0], heads[1])
	c = b.UseContainers()
	test := dueTest(b, 2)
	outcome = startTest(b, test)
	c.Begins(first)
	ahead = aheadOf(b, test)
	if change != nil {
		change(&ahead)
	}
	return c, first, outcome, ahead, startAhead(b, ahead)
}

// endRed ends gates in red: they are run twice, since a check may be flaky.
func endRed(c *mergertest.Containers, tree company.OID) {
	c.End(tree, 1)
	c.Begins(tree)
	c.End(tree, 1)
}

// A red verdict that was found ahead is as good: the next is red at once.
func TestRedVerdictAhead(t *testing.T) {
	t.Parallel()
	b := mergertest.NewStacked(t)
	gates, first, outcome, _, _ := startBoth(b, nil)
	whole := treeOfQueue(b)
	gates.Begins(whole)
	endRed(gates, whole)
	gates.End(first, 0)
	b.Must(outcome())
	b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
	red, ok := startTest(b, dueTest(b, 1))().(company.RecordMergeGate)
	if !ok || red.Result.Passed || red.Result.Tree != whole {
		t.Fatalf("%+v", red)
	}
	b.Must(red)
	if got := b.Task(mergertest.Task).Subtask(mergertest.Three).Status; got != company.SubtaskPending {
		t.Errorf("the third is %s", got)
	}
}

// treeOfQueue is the tree of all that are in the queue.
func treeOfQueue(b *mergertest.Bundle) company.OID {
	b.T.Helper()
	var heads []company.OID
	task := b.Task(mergertest.Task)
	for _, id := range task.Queue {
		heads = append(heads, task.Subtask(id).Head)
	}
	return treeOfAll(b, heads...)
}

// A verdict on the tree that was assumed says nothing of another one: where the stack is
// not merged as it was, the next test judges its own tree.
func TestVerdictOfAVainAssumptionIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, judged := range map[string]bool{"judged": true, "being judged": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := mergertest.NewStacked(t)
			gates, first, outcome, ahead, end := startBoth(b, nil)
			whole := treeOfQueue(b)
			gates.Begins(whole)
			if judged {
				gates.End(whole, 0)
			}
			endRed(gates, first)
			b.Must(outcome())
			if got := b.View().JudgeAhead(ahead, someday, nil); got != company.AheadVain {
				t.Errorf("the loop would let it go on: %v", got)
			}
			b.Must(b.CarryOut(b.Merger.Test, mergertest.One)) // each half by itself
			b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
			b.Must(b.CarryOut(b.Merger.Test, mergertest.Two))
			if got := b.Task(mergertest.Task).Subtask(mergertest.Two).Status; got != company.SubtaskPending {
				t.Fatalf("the second is %s", got)
			}
			alone := treeOfQueue(b)
			outcome = startTest(b, dueTest(b, 1))
			gates.Begins(alone)
			endRed(gates, alone)
			if got := outcome().(company.RecordMergeGate); got.Result.Passed || got.Result.Tree != alone || alone == whole {
				t.Errorf("a verdict on another tree is taken: %+v", got.Result)
			}
			if err := end(); judged == (err != nil) {
				t.Errorf("it ended with %v", err)
			}
			if !judged && !slices.Contains(gates.Log(), "broken off "+whole.Short()) {
				t.Errorf("its gates go on: %q", gates.Log())
			}
		})
	}
}

// Where the branch came to stand on another tree than was assumed, the gates ahead are
// ended, and the test judges its own tree.
func TestOtherTreeThanAssumed(t *testing.T) {
	t.Parallel()
	b := mergertest.NewStacked(t)
	gates, first, outcome, ahead, _ := startBoth(b, func(e *company.Effect) { e.Assumes = e.Assumes[:1] })
	whole := treeOfQueue(b)
	assumed := treeOfAll(b, ahead.Assumes[0].Head, ahead.Stack[0].Head)
	gates.Begins(assumed)
	gates.End(first, 0)
	b.Must(outcome())
	b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
	outcome = startTest(b, dueTest(b, 1))
	gates.Begins(whole)
	gates.End(whole, 0)
	if got := outcome().(company.RecordMergeGate); got.Tree != whole || got.Result.Tree != whole || !got.Result.Passed {
		t.Errorf("%+v", got)
	}
	if log := gates.Log(); !slices.Contains(log, "broken off "+assumed.Short()) {
		t.Errorf("the gates of a tree that will not be go on: %q", log)
	}
}

// Gates ahead that reach no verdict leave the next test as it is without them; and so
// does a test that is ended while it waits for them.
func TestGatesAheadThatAreBrokenOff(t *testing.T) {
	t.Parallel()
	b := mergertest.NewStacked(t)
	gates, first, outcome, _, end := startBoth(b, nil)
	whole := treeOfQueue(b)
	gates.Begins(whole)
	gates.End(first, 0)
	b.Must(outcome())
	b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
	next := dueTest(b, 1)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := b.Merger.Test(over, next); err == nil {
		t.Errorf("a test that was ended has an outcome: %+v", c)
	}
	outcome = startTest(b, next)
	if err := end(); err == nil {
		t.Error("they were broken off, and that is no error")
	}
	gates.Begins(whole)
	gates.End(whole, 0)
	if got := outcome().(company.RecordMergeGate); !got.Result.Passed {
		t.Errorf("%+v", got)
	}
	checkLog(t, gates, "begin "+first.Short(), "begin "+whole.Short(), "end "+first.Short(), "broken off "+whole.Short(),
		"begin "+whole.Short(), "end "+whole.Short())
}

// What does not merge on the assumed tree, or is not as it was, has no gates ahead.
func TestNothingToJudgeAhead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  map[string]string
		change func(*mergertest.Bundle, *company.Effect)
	}{
		"a conflict":    {files: map[string]string{"a.go": "package a\n\nvar a = 2\n"}},
		"the same file": {files: map[string]string{"shared.go": "// About x.\npackage a\n\nvar x = 0\n"}},
		"another head": {change: func(_ *mergertest.Bundle, e *company.Effect) {
			e.Stack[0].Head = e.Assumes[0].Head
		}},
		"another head before": {change: func(_ *mergertest.Bundle, e *company.Effect) {
			e.Assumes[0].Head = e.Stack[0].Head
		}},
		"one that is not there": {change: func(_ *mergertest.Bundle, e *company.Effect) { e.Stack[0].Subtask = "t1-09" }},
		"the branch stands there": {change: func(b *mergertest.Bundle, _ *company.Effect) {
			b.Must(startTest(b, dueTest(b, 1))())
			b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := mergertest.NewStacked(t)
			b.QueueForMerge(mergertest.One,
				map[string]string{"a.go": "package a\n\nvar a = 1\n", "shared.go": "package a\n\nvar x = 0\n\nvar y = 1\n"})
			if c.files == nil {
				c.files = map[string]string{"b.go": "package a\n\nvar b = 1\n"}
			}
			b.QueueForMerge(mergertest.Two, c.files)
			ahead := aheadOf(b, dueTest(b, 1))
			gates := b.UseContainers()
			if c.change != nil {
				c.change(b, &ahead)
			}
			if err := b.Merger.LookAhead(t.Context(), ahead); err == nil { // it does not wait
				t.Error("there is a verdict")
			}
			checkLog(t, gates)
		})
	}
}
