package company_test

import (
	"fmt"

	. "company/internal/company"
)

// tree is what git makes of two commits: always the same. Whether the gates
// like it is decided once.
func (w *world) tree(onto, head OID) OID {
	key := string(onto) + string(head)
	if w.trees[key] == "" {
		w.trees[key] = w.oid()
		w.red[w.trees[key]] = w.k.Gates > 0 && w.chance(w.k.Red)
	}
	return w.trees[key]
}

func (w *world) testMerge(t *Task, sub *Subtask) {
	if w.chance(w.k.Conflict) {
		w.send(Company,
			ReportConflict{Task: t.ID, Subtask: sub.ID,
				ConflictReported: ConflictReported{Head: sub.Head, Onto: t.Head, Paths: []string{"a.go"}}})
		return
	}
	if members := w.stackMembers(t); len(members) > 1 {
		tree := members[len(members)-1].Tree
		if w.spoil > 0 && len(members) > 2 {
			w.spoil--
			w.red[tree] = true
		}
		w.send(Company, RecordStackGate{Task: t.ID, Onto: t.Head, Members: members, Result: w.verdict(t, tree, !w.red[tree])})
		return
	}
	tree := w.tree(t.Head, sub.Head)
	own := tree // where nothing else was merged, and the branch began where the task did
	if t.Head != t.Prepared.Base.OID || w.chance(w.k.Overlap) {
		own = w.oid()
	}
	w.send(Company, RecordMergeGate{Task: t.ID, Subtask: sub.ID, Head: sub.Head, Onto: t.Head, Tree: tree, HeadTree: own,
		Result: w.verdict(t, tree, !w.red[tree]), Overlap: w.chance(w.k.Overlap), Message: "merge"})
}

// othersComeToQueue says whether others of the wave may still join the merge queue.
func othersComeToQueue(t *Task) bool {
	for _, sub := range t.Subtasks {
		if t.IsReady(sub) && !sub.Paused && sub.Status != SubtaskMerging && sub.Status != SubtaskCompleted {
			return true
		}
	}
	return false
}

// stackMembers merges the subtasks of the next stack one onto the other. What conflicts
// with those before it, or changes what they do, is left out.
func (w *world) stackMembers(t *Task) []StackMember {
	var out []StackMember
	onto := t.Head
	for i, sub := range w.s.MergeStack(t) {
		if i > 0 && (w.chance(w.k.Conflict) || w.chance(w.k.Overlap)) {
			continue
		}
		onto = w.tree(onto, sub.Head)
		out = append(out, StackMember{Subtask: sub.ID, Head: sub.Head, Tree: onto, Message: "merge"})
	}
	if n := len(out); n > 1 && w.chance(w.k.Hostile) {
		switch w.rng.IntN(6) {
		case 0:
			out[0], out[n-1] = out[n-1], out[0]
		case 1:
			out[n-1].Head = w.oid()
		case 2:
			out[n-1] = out[0]
		case 3:
			out = append(out, out...)
		case 4:
			out[0].Tree = "HEAD"
		case 5:
			out[n-1].Subtask = NewSubtaskID(t.ID, 9)
		}
	}
	return out
}

// merge makes the commits that the intent stands for and moves the branch, once: the
// second time it finds what it did.
func (w *world) merge(t *Task) {
	if in := t.StackIntent; in != nil {
		w.mergeStack(t, in)
		return
	}
	in := t.MergeIntent
	key := fmt.Sprint("merge ", in.Tree, in.Onto, in.Head, in.At.UnixNano(), in.Message)
	if w.trees[key] == "" {
		w.trees[key] = w.oid()
	}
	commit, at := w.trees[key], w.refs[w.s.LeadOf(t).ID]
	if at == "" {
		at = t.Prepared.Base.OID
	}
	if at != commit {
		if at != in.Onto {
			w.t.Fatalf("the branch of %s is at %s, the merge wants %s\n%s", t.ID, at.Short(), in.Onto.Short(), w.tail())
		}
		if w.red[in.Tree] && !t.Untested() { // where nothing looks, nothing is red
			w.t.Fatalf("a tree whose gates are red is merged\n%s", w.tail())
		}
		w.refs[w.s.LeadOf(t).ID] = commit
		w.noteMerge(in.Subtask, commit)
	}
	w.send(Company, RecordMerge{Task: t.ID, Commit: commit})
}

func (w *world) mergeStack(t *Task, in *StackIntended) {
	var commits []OID
	last := in.Onto
	for _, m := range in.Members {
		key := fmt.Sprint("merge ", m.Tree, last, m.Head, in.At.UnixNano(), m.Message)
		if w.trees[key] == "" {
			w.trees[key] = w.oid()
		}
		last = w.trees[key]
		commits = append(commits, last)
	}
	at := w.refs[w.s.LeadOf(t).ID]
	if at == "" {
		at = t.Prepared.Base.OID
	}
	if at != last {
		if at != in.Onto {
			w.t.Fatalf("the branch of %s is at %s, the stack wants %s\n%s", t.ID, at.Short(), in.Onto.Short(), w.tail())
		}
		if w.red[in.Members[len(in.Members)-1].Tree] && !t.Untested() {
			w.t.Fatalf("a stack whose gates are red is merged\n%s", w.tail())
		}
		w.refs[w.s.LeadOf(t).ID] = last
		for i, m := range in.Members {
			w.noteMerge(m.Subtask, commits[i])
		}
	}
	if w.chance(w.k.Hostile) {
		switch w.rng.IntN(3) {
		case 0:
			commits = commits[1:]
		case 1:
			commits[0] = commits[len(commits)-1]
		case 2:
			commits[0] = in.Onto
		}
	}
	w.send(Company, RecordStackMerge{Task: t.ID, Commits: commits})
}

// noteMerge remembers a merge that was really done: there is one of each subtask.
func (w *world) noteMerge(sub SubtaskID, commit OID) {
	if w.merges[sub] == nil {
		w.merges[sub] = map[OID]bool{}
	}
	w.merges[sub][commit] = true
	if len(w.merges[sub]) > 1 {
		w.t.Fatalf("%s is merged twice\n%s", sub, w.tail())
	}
}
