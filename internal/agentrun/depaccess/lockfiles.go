package depaccess

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
)

// Limits of the lock files that are read from one tree: their number, and their bytes in all. They are held in
// memory. Files beyond the limits allow no packages.
const (
	maxLocks     = 500
	maxLockBytes = 64 << 20
)

// Locks reads the lock files of a commit or tree that is based on base, by path. Files in copies of other
// projects do not count, unless a client is led to them.
func Locks(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (map[string][]byte, error) {
	entries, _, err := splitEntries(ctx, mirror, base, at)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	err = mirror.ReadFiles(ctx, entries, func(e gitops.Entry, text []byte) error {
		out[e.Path] = append([]byte(nil), text...)
		return nil
	})
	return out, err
}

// Changed reports whether the lock files of a tree differ from those of its base.
func Changed(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (bool, error) {
	was, _, err := splitEntries(ctx, mirror, base, base)
	if err != nil {
		return false, err
	}
	is, _, err := splitEntries(ctx, mirror, base, at)
	if err != nil || len(was) != len(is) {
		return err == nil, err
	}
	for i := range was {
		if was[i].Path != is[i].Path || was[i].OID != is[i].OID {
			return true, nil
		}
	}
	return false, nil
}

// FindUnread lists lock files of a tree that are not read, because they are links or exceed the limits. Files
// that the base has unchanged are left out.
func FindUnread(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (paths []string, err error) {
	_, left, err := splitEntries(ctx, mirror, base, at)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	_, was, err := splitEntries(ctx, mirror, base, base)
	if err != nil {
		return nil, err
	}
	for _, entry := range left {
		if !slices.Contains(was, entry) {
			paths = append(paths, entry.Path)
		}
	}
	return paths, nil
}

// FindCopies lists lock files of copies that are compared because the tree may lead clients elsewhere than its
// base.
func FindCopies(ctx context.Context, m *gitops.Mirror, base, at company.OID) (paths []string, err error) {
	scope, entries, err := findScope(ctx, m, base, at)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if depproxy.IsLockFile(entry.Path) && scope.isCopy(entry.Path) && !scope.leavesOut(entry) {
			paths = append(paths, entry.Path)
		}
	}
	return paths, nil
}

// FindMirrored lists lock files of a tree that contain the mirror's address, which people cannot reach. Files
// whose version in the base contains it, too, are left out.
func FindMirrored(mirror string, base, tree map[string][]byte) (files []string) {
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		if bytes.Contains(tree[file], []byte(mirror)) && !bytes.Contains(base[file], []byte(mirror)) {
			files = append(files, file)
		}
	}
	return files
}

// maxManifest limits a manifest that is compared with a lock file, in bytes.
const maxManifest = 1 << 20

// FindForged lists lock files of a tree that differ from the base's and contradict the manifests of the tree's
// folders.
func FindForged(
	ctx context.Context, mirror *gitops.Mirror, at company.OID, base, tree map[string][]byte,
) (out []depproxy.UnreadableLock, err error) {
	for _, repeater := range catalog.Of[ecosystem.ManifestRepeater]() {
		for _, file := range slices.Sorted(maps.Keys(tree)) {
			if !repeater.IsLockFile(file) || bytes.Equal(base[file], tree[file]) {
				continue
			}
			manifests, err := readFiles(ctx, mirror, at, repeater.ListManifests(file, tree[file]))
			if err != nil {
				return nil, err
			}
			if err := repeater.CheckManifests(file, tree[file], base[file], manifests); err != nil {
				out = append(out, depproxy.UnreadableLock{File: file, Why: err.Error()})
			}
		}
	}
	return out, nil
}

// FindOverridden lists requests of lock files that the tree's manifests replace by others.
func FindOverridden(
	ctx context.Context, mirror *gitops.Mirror, at company.OID, tree map[string][]byte,
) (out []ecosystem.Address, err error) {
	for _, lister := range catalog.Of[ecosystem.OverrideLister]() {
		for _, file := range slices.Sorted(maps.Keys(tree)) {
			if !lister.IsLockFile(file) || len(tree[file]) > depproxy.MaxLockFile {
				continue
			}
			manifests, err := readFiles(ctx, mirror, at, lister.ListManifests(file, tree[file]))
			if err != nil {
				return nil, err
			}
			out = append(out, lister.ListOverridden(file, tree[file], manifests)...)
		}
	}
	return out, nil
}

// readFiles reads those of the given paths that exist in a tree. It skips files beyond maxManifest, or beyond
// maxLockBytes in all.
func readFiles(ctx context.Context, mirror *gitops.Mirror, at company.OID, paths []string) (map[string][]byte, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	entries, err := mirror.List(ctx, at)
	if err != nil {
		return nil, err
	}
	var found []gitops.Entry
	var total int64
	for _, entry := range entries {
		if isFile(entry) && entry.Size <= maxManifest && total+entry.Size <= maxLockBytes &&
			slices.Contains(paths, entry.Path) {
			total += entry.Size
			found = append(found, entry)
		}
	}
	out := map[string][]byte{}
	err = mirror.ReadFiles(ctx, found, func(e gitops.Entry, text []byte) error {
		out[e.Path] = bytes.Clone(text)
		return nil
	})
	return out, err
}

// splitEntries returns the lock files of a tree that are read, and those left unread: links, and files beyond
// the limits.
func splitEntries(ctx context.Context, m *gitops.Mirror, base, at company.OID) (read, left []gitops.Entry, err error) {
	scope, entries, err := findScope(ctx, m, base, at)
	if err != nil {
		return nil, nil, err
	}
	var total int64
	for _, entry := range entries {
		switch {
		case !depproxy.IsLockFile(entry.Path) || scope.leavesOut(entry):
		case !isFile(entry) || entry.Size > depproxy.MaxLockFile || total+entry.Size > maxLockBytes || len(read) == maxLocks:
			left = append(left, entry)
		default:
			total += entry.Size
			read = append(read, entry)
		}
	}
	return read, left, nil
}
