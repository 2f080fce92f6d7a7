package gitops

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
)

// maxWalked bounds the commits that are read one by one before git is asked for all
// of them.
const maxWalked = 64

// walkNewCommits reads the commits that tips have and the base has not. It does so
// where every way down from the tips ends at the base, which is what runs push as a
// rule. False: it is not so, or there are many of them, or the run knows other
// commits, and git is to list them.
func (q *Quarantine) walkNewCommits(b *batch, tips []OID) (commits []Commit, ok bool) {
	if len(q.known) > 0 {
		return nil, false // one that a known commit has may be reached by another way
	}
	ok = b.walkHistory(tips, func(c Commit) bool {
		commits = append(commits, c)
		return len(c.Parents) > 0 // else the walk has passed by the base
	}, q.base)
	return commits, ok
}

// walkHistory gives each commit that tips have to visit, once. It does not go below
// those of end. False: a commit cannot be read, there are too many, or visit has
// ended the walk.
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
		c, err := b.readCommit(id)
		if err != nil || !visit(c) {
			return false
		}
		next = append(next, c.Parents...)
	}
	return true
}

// isRewritten reports whether a commit that replaces another one does not hold it.
func (q *Quarantine) isRewritten(ctx context.Context, b *batch, env []string, u RefUpdate) (bool, error) {
	held := false
	b.walkHistory([]OID{u.New}, func(c Commit) bool {
		held = held || slices.Contains(c.Parents, u.Old)
		return !held
	}, u.Old, q.base)
	if held || u.New == u.Old {
		return false, nil
	}
	r, err := q.s.run(ctx, call{dir: q.dir, env: env, limited: true, args: []string{"merge-base", "--is-ancestor", string(u.Old), string(u.New)}})
	return err == nil && r.exit != 0, err
}

// listNewCommits has git list the commits that tips have, and neither the base nor
// the known commits of the run.
func (q *Quarantine) listNewCommits(ctx context.Context, b *batch, env []string, tips []OID) ([]Commit, error) {
	args := []string{"rev-list", "--max-count=" + strconv.Itoa(maxNewCommits+1)}
	for _, tip := range tips {
		args = append(args, string(tip))
	}
	for _, id := range append([]OID{q.base}, q.known...) {
		args = append(args, "^"+string(id))
	}
	r, err := q.s.runOK(ctx, call{dir: q.dir, args: args, env: env, limited: true})
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(r.outputText())
	if len(ids) > maxNewCommits {
		return nil, company.E(company.EObjects, fmt.Sprintf("there are more than %d new commits", maxNewCommits)).Fix("squash them")
	}
	commits := make([]Commit, 0, len(ids))
	for _, id := range ids {
		c, err := b.readCommit(OID(id))
		if err != nil {
			return nil, err
		}
		if commits = append(commits, c); len(commits)%maxWalked == 0 {
			if err := checkCommitsSize(commits); err != nil {
				return nil, err
			}
		}
	}
	return commits, nil
}
