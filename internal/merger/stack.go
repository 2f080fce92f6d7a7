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
	conflict gates.Merged          // that one
	overlap  bool                  // of the first, which is alone then: the base moved under its review
}

func (p pile) lastTree() company.OID { return p.members[len(p.members)-1].Tree }

// isTestable says whether a merge of the pile hangs on the gates alone.
func (p pile) isTestable() bool { return len(p.members) > 0 && !p.overlap }

// pileUp merges subtasks onto a commit, one onto the other.
func (g *Merger) pileUp(ctx context.Context, t *company.Task, m *gitops.Mirror, onto company.OID, subs []*company.Subtask) (pile, error) {
	merged, err := g.Runner.MergeHeads(ctx, g.Decider.View(), t, m, onto, subs[0].Head)
	if err != nil || !merged.Clean {
		return pile{conflict: merged}, err
	}
	overlap, err := hasOverlap(ctx, m, subs[0], onto)
	if err != nil {
		return pile{}, err
	}
	if overlap {
		subs = subs[:1]
	}
	members, err := g.stackMembers(ctx, t, m, onto, memberOf(subs[0], merged), subs[1:])
	return pile{members: members, overlap: overlap}, err
}

// memberOf is a subtask as a member of a stack.
func memberOf(sub *company.Subtask, merged gates.Merged) company.StackMember {
	return company.StackMember{Subtask: sub.ID, Head: sub.Head, Tree: merged.Tree, Remade: merged.Remade}
}

// stackMembers merges the subtasks of a stack one onto the other; the first is merged onto
// the integration head already. What conflicts with those before it, or
// changes a file that they change, is left out: it is tested when those are merged, or
// are not to be.
func (g *Merger) stackMembers(ctx context.Context, t *company.Task, m *gitops.Mirror, onto company.OID, first company.StackMember, rest []*company.Subtask) ([]company.StackMember, error) {
	members := []company.StackMember{first}
	at, committed := onto, 0 // the last of the members that has a commit, and how many have
	for _, sub := range rest {
		if committed < len(members) {
			var err error
			if at, err = passingMerge(ctx, m, t, at, members[committed]); err != nil {
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
		merged, err := g.Runner.MergeHeads(ctx, g.Decider.View(), t, m, at, sub.Head)
		if err != nil && company.CodeOf(err) != company.EGit { // what git cannot merge is no fault of the others
			return nil, err
		}
		if err == nil && merged.Clean {
			members = append(members, memberOf(sub, merged))
		}
	}
	return members, nil
}

// passingMerge is a commit of a member's tree, for the next one to be merged onto: git
// merges commits alone. It is the same each time.
func passingMerge(ctx context.Context, m *gitops.Mirror, t *company.Task, onto company.OID, member company.StackMember) (company.OID, error) {
	parents, err := parentsOf(ctx, m, t, t.Subtask(member.Subtask), member.Head, onto)
	if err != nil {
		return "", err
	}
	return m.CommitTree(ctx, gitops.CommitSpec{Tree: member.Tree, Parents: parents, Message: string(member.Subtask), When: time.Unix(0, 0), Passing: true})
}

// testStack judges the tree of all members.
func (g *Merger) testStack(ctx context.Context, j judgment, members []company.StackMember) (company.Command, error) {
	out := company.RecordStackGate{Task: j.t.ID, Onto: j.t.Head, Members: members}
	var err error
	out.Result, err = g.judgeTree(ctx, j, members[len(members)-1].Tree, members[0].Subtask, "")
	return out, err
}
