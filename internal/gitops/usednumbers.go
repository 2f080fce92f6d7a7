package gitops

import (
	"context"
	"path/filepath"
	"strings"

	"company/internal/company"
)

// LastTaskNumber returns the highest task number of the office's integration branches at the remote of
// a checkout. It is 0 where there is none, and where the checkout has no remote. The remote is asked
// once; nothing of the office is read or written. Numbers above company.MaxNumberAfter are ignored.
func LastTaskNumber(ctx context.Context, cfg Config, checkout, office string) (int, error) {
	s, remote, done, err := (&probe{cfg: cfg, checkout: checkout}).open(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if remote == "" {
		return 0, nil
	}
	a, err := s.openRemote(ctx, Remote{URL: remote, checkout: checkout})
	if err != nil {
		return 0, judgeUnopened(err)
	}
	defer a.done()
	repo := filepath.Join(s.root, "look.git")
	if err := s.createRepo(ctx, repo, "main", nil); err != nil {
		return 0, err
	}
	a.once = true
	pattern := "" // HEAD alone
	if office != "" {
		pattern = "*-t*-" + office
	}
	refs, _, err := a.listBranches(ctx, repo, pattern)
	err = a.judgeUnread(ctx, err)
	last := 0
	for ref := range refs {
		if office != "" {
			last = max(last, taskNumber(ref, office))
		}
	}
	return last, err
}

// taskNumber returns the task's number in the name of an integration branch of the office; 0 for other
// references. The prefix may have been another one when the branch was made.
func taskNumber(ref, office string) int {
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	name, isOurs := strings.CutSuffix(branch, "-"+office)
	at := strings.LastIndex(name, "-t")
	if !isBranch || !isOurs || at < 0 || checkPrefix(name[:at]) != nil {
		return 0
	}
	id := company.TaskID(name[at+1:])
	if !id.Valid() || id.Number() > company.MaxNumberAfter {
		return 0
	}
	return id.Number()
}
