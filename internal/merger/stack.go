package merger

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
)

// pile is what becomes of subtasks that are merged one onto the other.
type pile struct {
	members  []company.StackMember // none: the first conflicts
	conflict []string              // paths of that
	overlap  bool                  // of the first, which is alone then: the base moved under its review
}

func (p pile) lastTree() company.OID { return p.members[len(p.members)-1].Tree }

// isTestable says whether a merge of the pile hangs on the gates alone.
func (p pile) isTestable() bool { return len(p.members) > 0 && !p.overlap }

// pileUp merges subtasks onto a commit, one onto the other.
func pileUp(ctx context.Context, m *gitops.Mirror, onto company.OID, subs []*company.Subtask) (pile, error) {
	merged, err := gates.MergeHeads(ctx, m, onto, subs[0].Head)
	if err != nil || !merged.Clean {
		return pile{conflict: merged.Files}, err
	}
	overlap, err := hasOverlap(ctx, m, subs[0], onto)
	if err != nil {
		return pile{}, err
	}
	if overlap {
		subs = subs[:1]
	}
	members, err := stackMembers(ctx, m, onto, merged.Tree, subs)
	return pile{members: members, overlap: overlap}, err
}

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
		merged, err := gates.MergeHeads(ctx, m, at, sub.Head)
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
func (g *Merger) testStack(ctx context.Context, j judgment, members []company.StackMember) (company.Command, error) {
	out := company.RecordStackGate{Task: j.t.ID, Onto: j.t.Head, Members: members}
	var err error
	out.Result, err = g.judgeTree(ctx, j, members[len(members)-1].Tree, members[0].Subtask, "")
	return out, err
}
