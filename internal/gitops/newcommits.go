package gitops

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
)

// maxWalked limits the commits that are read one by one. Beyond it, git lists them.
const maxWalked = 64

// walkNewCommits reads the commits that are in tips but not in the base. It succeeds if every path from the tips ends
// at the base, which is the usual case for a run's push. Otherwise it returns false and git must list them. It also
// returns false if there are too many commits or the run knows other commits.
func (q *Quarantine) walkNewCommits(b *batch, tips []OID) (commits []Commit, ok bool) {
	if len(q.known) > 0 {
		return nil, false // a known commit may contain one that another path reaches
	}
	ok = b.walkHistory(tips, func(commit Commit) bool {
		commits = append(commits, commit)
		return len(commit.Parents) > 0 // otherwise the walk has missed the base
	}, q.base)
	return commits, ok
}

// walkHistory passes each commit that is reachable from tips to visit, once. It stops at the commits of end. It
// returns false if a commit cannot be read, there are too many, or visit returned false.
func (b *batch) walkHistory(tips []OID, visit func(Commit) bool, end ...OID) bool {
	seen := map[OID]bool{}
	for _, id := range end {
		seen[id] = true
	}
	next := slices.Clone(tips)
	for walked := 0; len(next) > 0; next = next[1:] {
		id := next[0]
		if seen[id] {
			continue
		}
		seen[id] = true
		if walked++; walked > maxWalked {
			return false
		}
		commit, err := b.readCommit(id)
		if err != nil || !visit(commit) {
			return false
		}
		next = append(next, commit.Parents...)
	}
	return true
}

// isRewritten reports whether a reference's new commit does not contain the old one.
func (q *Quarantine) isRewritten(ctx context.Context, b *batch, env []string, refUpdate RefUpdate) (bool, error) {
	held := false
	b.walkHistory([]OID{refUpdate.New}, func(c Commit) bool {
		held = held || slices.Contains(c.Parents, refUpdate.Old)
		return !held
	}, refUpdate.Old, q.base)
	if held || refUpdate.New == refUpdate.Old {
		return false, nil
	}
	result, err := q.s.run(
		ctx, call{dir: q.dir, env: env, limited: true,
			args: []string{"merge-base", "--is-ancestor", string(refUpdate.Old), string(refUpdate.New)}})
	return err == nil && result.exit != 0, err
}

// listNewCommits makes git list the commits that are in tips but neither in the base nor in the run's known commits.
func (q *Quarantine) listNewCommits(ctx context.Context, b *batch, env []string, tips []OID) ([]Commit, error) {
	args := []string{"rev-list", "--max-count=" + strconv.Itoa(maxNewCommits+1)}
	for _, tip := range tips {
		args = append(args, string(tip))
	}
	for _, id := range append([]OID{q.base}, q.known...) {
		args = append(args, "^"+string(id))
	}
	result, err := q.s.runOK(ctx, call{dir: q.dir, args: args, env: env, limited: true})
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(result.outputText())
	if len(ids) > maxNewCommits {
		return nil, company.E(company.EObjects, fmt.Sprintf("there are more than %d new commits", maxNewCommits)).
			Fix("squash them")
	}
	commits := make([]Commit, 0, len(ids))
	for _, id := range ids {
		commit, err := b.readCommit(OID(id))
		if err != nil {
			return nil, err
		}
		if commits = append(commits, commit); len(commits)%maxWalked == 0 {
			if err := checkCommitsSize(commits); err != nil {
				return nil, err
			}
		}
	}
	return commits, nil
}
