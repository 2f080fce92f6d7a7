package gitops

import (
	"context"
	"path/filepath"
	"strings"

	"company/internal/company"
)

// LastTaskNumber returns the highest task number among the office's integration branches at a checkout's remote. It
// is 0 if there is none or the checkout has no remote. It asks the remote once and does not read or write files of
// the office. It ignores numbers above company.MaxNumberAfter.
func LastTaskNumber(ctx context.Context, cfg Config, checkout, office string) (int, error) {
	store, remote, done, err := (&probe{cfg: cfg, checkout: checkout}).open(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if remote == "" {
		return 0, nil
	}
	endpoint, err := store.openRemote(ctx, Remote{URL: remote, checkout: checkout})
	if err != nil {
		return 0, judgeUnopened(err)
	}
	defer endpoint.done()
	repo := filepath.Join(store.root, "look.git")
	if err := store.createRepo(ctx, repo, "main", nil); err != nil {
		return 0, err
	}
	endpoint.once = true
	pattern := "" // only HEAD
	if office != "" {
		pattern = "*-t*-" + office
	}
	refs, _, err := endpoint.listBranches(ctx, repo, pattern)
	err = endpoint.judgeUnread(ctx, err)
	last := 0
	for ref := range refs {
		if office != "" {
			last = max(last, taskNumber(ref, office))
		}
	}
	return last, err
}

// taskNumber returns the task's number in the name of an integration branch of the office, or 0 for other references.
// It accepts any valid prefix, because the setting may have changed since.
func taskNumber(ref, office string) int {
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	name, isOurs := strings.CutSuffix(branch, "-"+office)
	index := strings.LastIndex(name, "-t")
	if !isBranch || !isOurs || index < 0 || checkPrefix(name[:index]) != nil {
		return 0
	}
	id := company.TaskID(name[index+1:])
	if !id.Valid() || id.Number() > company.MaxNumberAfter {
		return 0
	}
	return id.Number()
}
