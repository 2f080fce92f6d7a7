package gitops

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
)

// LastTaskNumber returns the highest task number among the office's integration branches at a checkout's remote, and
// where its branches are pushed. It is 0 if there is none or the checkout has no remote. It asks each address once and
// does not read or write files of the office. It ignores numbers above company.MaxNumberAfter. It fails if the place
// for branches has a branch that makes the configured names impossible.
func LastTaskNumber(ctx context.Context, cfg Config, checkout, office string) (int, error) {
	store, remote, done, err := (&probe{cfg: cfg, checkout: checkout}).openStore(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if remote.fetch == "" {
		return 0, nil
	}
	repo := filepath.Join(store.root, "look.git")
	if err := store.createRepo(ctx, repo, "main", nil); err != nil {
		return 0, err
	}
	pushed, last := remote.pushAddress(), 0
	for _, at := range slices.Compact([]string{remote.fetch, cmp.Or(pushed, remote.fetch)}) {
		refs, err := store.listOfficeBranches(ctx, Remote{URL: at, checkout: checkout, push: at == pushed}, repo, office)
		if err != nil {
			return last, err
		}
		for ref := range refs {
			if branch := strings.TrimPrefix(ref, "refs/heads/"); at == pushed &&
				strings.HasPrefix(store.cfg.IntegrationPrefix, branch+"/") {
				return last, folderTaken(branch, store.cfg.IntegrationPrefix).NeedsPerson()
			}
			if office != "" {
				last = max(last, taskNumber(ref, office))
			}
		}
	}
	return last, nil
}

// listOfficeBranches asks an address for the integration branches of an office and for branches that are folders of the
// configured prefix. repo is a repository of ours to run in.
func (s *Store) listOfficeBranches(
	ctx context.Context, remote Remote, repo, office string,
) (map[string]company.OID, error) {
	endpoint, err := s.openRemote(ctx, remote)
	if err != nil {
		return nil, judgeUnopened(err)
	}
	defer endpoint.done()
	endpoint.once = true
	var patterns []string // none asks for HEAD alone
	if office != "" {
		patterns = append(patterns, "*-t*-"+office)
	}
	for i, r := range s.cfg.IntegrationPrefix {
		if r == '/' {
			patterns = append(patterns, s.cfg.IntegrationPrefix[:i])
		}
	}
	refs, _, err := endpoint.listBranches(ctx, repo, patterns...)
	return refs, endpoint.judgeUnread(ctx, err)
}

// taskNumber returns the task's number in the name of an integration branch of the office, or 0 for other references.
// It accepts any valid prefix, because the setting may have changed since.
func taskNumber(ref, office string) int {
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	name, isOurs := strings.CutSuffix(branch, "-"+office)
	index := strings.LastIndex(name, "-t")
	if !isBranch || !isOurs || index < 0 || company.CheckBranchPrefix(name[:index]) != nil {
		return 0
	}
	id := company.TaskID(name[index+1:])
	if !id.Valid() || id.Number() > company.MaxNumberAfter {
		return 0
	}
	return id.Number()
}
