package gitops

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"company/internal/company"
)

// isRewritten reports whether a reference's new commit does not contain the old one.
func (q *Quarantine) isRewritten(ctx context.Context, env []string, refUpdate RefUpdate) (bool, error) {
	result, err := q.s.run(
		ctx, call{dir: q.dir, env: env, limited: true,
			args: []string{"merge-base", "--is-ancestor", string(refUpdate.Old), string(refUpdate.New)}})
	return err == nil && result.exit != 0, err
}

// sizeCheckEvery is the number of commits after which their size is checked.
const sizeCheckEvery = 64

// listNewCommits reads the commits that are in tips but neither in the base nor in the run's known commits.
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
		if commits = append(commits, commit); len(commits)%sizeCheckEvery == 0 {
			if err := checkCommitsSize(commits); err != nil {
				return nil, err
			}
		}
	}
	return commits, nil
}
