package merger

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/gitops"
)

// stackMembers merges the subtasks of a stack one onto the other; tree is that of the
// first, merged onto the integration head. What conflicts with those before it, or
// changes a file that they change, is left out: it is tested when those are merged, or
// are not to be.
func stackMembers(ctx context.Context, m *gitops.Mirror, onto, tree company.OID, stack []*company.Subtask) ([]company.StackMember, error) {
	members := []company.StackMember{{Subtask: stack[0].ID, Head: stack[0].Head, Tree: tree, Message: mergeMessage(stack[0])}}
	at, committed := onto, 0 // the last of the members that has a commit, and how many have
	for _, sub := range stack[1:] {
		if committed < len(members) {
			var err error
			if at, err = passingMerge(ctx, m, at, members[committed]); err != nil {
				return nil, err
			}
			committed++
		}
		overlap, err := hasOverlap(ctx, m, sub, at)
		if err != nil {
			return nil, err
		}
		if overlap {
			continue
		}
		merged, err := m.MergeTree(ctx, at, sub.Head)
		if err != nil && company.CodeOf(err) != company.EGit { // what git cannot merge is no fault of the others
			return nil, err
		}
		if err == nil && merged.Clean {
			members = append(members, company.StackMember{Subtask: sub.ID, Head: sub.Head, Tree: merged.Tree, Message: mergeMessage(sub)})
		}
	}
	return members, nil
}

// passingMerge is a commit of a member's tree, for the next one to be merged onto: git
// merges commits alone. It is the same each time.
func passingMerge(ctx context.Context, m *gitops.Mirror, onto company.OID, member company.StackMember) (company.OID, error) {
	return m.CommitTree(ctx, gitops.CommitSpec{
		Tree: member.Tree, Parents: []company.OID{onto, member.Head}, Message: member.Message, When: time.Unix(0, 0), Passing: true,
	})
}

// testStack judges the tree of all members.
func (g *Merger) testStack(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, members []company.StackMember) (company.Command, error) {
	out := company.RecordStackGate{Task: t.ID, Onto: t.Head, Members: members}
	var err error
	out.Result, err = g.Runner.Evaluate(ctx, s, t, m, members[len(members)-1].Tree, string(members[0].Subtask), func(check string) {
		g.Watcher.WatchCheck(t.ID, "", check)
	})
	out.Result.RedGreen = nil // of a cached verdict: it is of another ticket
	return out, err
}
