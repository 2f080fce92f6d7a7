package merger

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
)

// pile is the result of merging subtasks one onto the other.
type pile struct {
	members  []company.StackMember // empty if the first one conflicts
	conflict gates.Merged          // the conflict of the first one
	overlap  bool                  // the base moved under the review of the first one, which is then alone
}

func (p pile) lastTree() company.OID { return p.members[len(p.members)-1].Tree }

// pileUp merges subtasks one onto the other, starting at a commit.
func (g *Merger) pileUp(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, onto company.OID, subs []*company.Subtask,
) (pile, error) {
	merged, err := g.Runner.MergeHeads(ctx, g.Decider.View(), task, mirror, onto, subs[0].Head)
	if err != nil || !merged.Clean {
		return pile{conflict: merged}, err
	}
	overlap, err := hasOverlap(ctx, mirror, subs[0], onto)
	if err != nil {
		return pile{}, err
	}
	if overlap {
		subs = subs[:1]
	}
	members, err := g.stackMembers(ctx, task, mirror, onto, memberOf(subs[0], merged), subs[1:])
	return pile{members: members, overlap: overlap}, err
}

// memberOf returns a subtask as a member of a stack.
func memberOf(sub *company.Subtask, merged gates.Merged) company.StackMember {
	return company.StackMember{Subtask: sub.ID, Head: sub.Head, Tree: merged.Tree, Remade: merged.Remade}
}

// stackMembers merges the subtasks of a stack one onto the other. The first one is already merged onto the
// integration head. A subtask that conflicts with those before it, or changes the same file, is left out. It is
// tested later, when those are merged or given up.
func (g *Merger) stackMembers(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, onto company.OID, first company.StackMember,
	rest []*company.Subtask,
) ([]company.StackMember, error) {
	members := []company.StackMember{first}
	at, committed := onto, 0 // the last member's commit, and the number of members with a commit
	for _, sub := range rest {
		if committed < len(members) {
			var err error
			if at, err = passingMerge(ctx, mirror, task, at, members[committed]); err != nil {
				return nil, err
			}
			committed++
		}
		overlap, err := hasOverlap(ctx, mirror, sub, at)
		if err != nil {
			return nil, err
		}
		if overlap {
			continue
		}
		merged, err := g.Runner.MergeHeads(ctx, g.Decider.View(), task, mirror, at, sub.Head)
		if err != nil && company.CodeOf(err) != company.EGit { // a failed git merge of one subtask does not affect the others
			return nil, err
		}
		if err == nil && merged.Clean {
			members = append(members, memberOf(sub, merged))
		}
	}
	return members, nil
}

// passingMerge returns a commit of a member's tree, on which the next one is merged, because git merges only
// commits. Repeated calls return the same commit.
func passingMerge(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, onto company.OID, member company.StackMember,
) (company.OID, error) {
	parents, err := parentsOf(ctx, mirror, task, task.Subtask(member.Subtask), member.Head, onto)
	if err != nil {
		return "", err
	}
	return mirror.CommitTree(
		ctx, gitops.CommitSpec{Tree: member.Tree, Parents: parents, Message: string(member.Subtask), When: time.Unix(0, 0),
			Passing: true})
}

// testStack judges the tree of all members.
func (g *Merger) testStack(ctx context.Context, j judgment, members []company.StackMember) (company.Command, error) {
	out := company.RecordStackGate{Task: j.t.ID, Onto: j.t.Head, Members: members}
	var err error
	out.Result, err = g.judgeTree(ctx, j, members[len(members)-1].Tree, members[0].Subtask, "")
	return out, err
}
