package depaccess

import (
	"context"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

// archiveRE matches the folded name of an archive in the cache of yarn 2 or later. The first part is the package
// with its version and a digest of its origin. The second part is a digest of the archive, or the key of the
// yarn version that made it.
var archiveRE = lazyregexp.New(`^(.+-[0-9a-f]{10})-(?:[0-9a-f]{10}|[0-9]+(?:c[0-9])?)\.zip$`)

// FindExchanged lists archives of yarn's caches for packages and versions for which the base has a different
// archive. It searches all folders, because settings of the branch may name the cache. yarn makes the archives
// itself, so no registry can verify them. It unpacks an archive from the cache if the lock file has its digest,
// or has none.
func FindExchanged(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (paths []string, err error) {
	before, err := mirror.List(ctx, base)
	if err != nil {
		return nil, err
	}
	had := map[string]map[company.OID]bool{}
	for _, entry := range before {
		if of := packageOf(entry); of != "" {
			if had[of] == nil {
				had[of] = map[company.OID]bool{}
			}
			had[of][entry.OID] = true
		}
	}
	if len(had) == 0 {
		return nil, nil
	}
	entries, err := mirror.List(ctx, at)
	for _, entry := range entries {
		if archives := had[packageOf(entry)]; archives != nil && !archives[entry.OID] {
			paths = append(paths, entry.Path)
		}
	}
	return paths, err
}

// packageOf returns the package and version of an archive in yarn's cache. It is empty if the entry's name is
// not that of an archive.
func packageOf(entry gitops.Entry) string {
	if !strings.EqualFold(path.Ext(entry.Path), ".zip") {
		return ""
	}
	m := archiveRE.FindStringSubmatch(gitops.FoldName(path.Base(entry.Path)))
	if m == nil {
		return ""
	}
	return m[1]
}
