package depaccess

import (
	"context"
	"strings"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/gitops"
)

// Bounds of the lock files of one tree that are read: how many, and how many
// bytes in all. They are held in memory; files beyond the bounds allow nothing.
const (
	maxLocks     = 500
	maxLockBytes = 64 << 20
)

// Locks reads the lock files of a commit or tree, path to content. Files of
// other projects that were copied in do not count.
func Locks(ctx context.Context, m *gitops.Mirror, at company.OID) (map[string][]byte, error) {
	entries, err := lockEntries(ctx, m, at)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	err = m.ReadFiles(ctx, entries, func(e gitops.Entry, text []byte) error {
		out[e.Path] = append([]byte(nil), text...)
		return nil
	})
	return out, err
}

// Changed reports whether two trees have other lock files.
func Changed(ctx context.Context, m *gitops.Mirror, a, b company.OID) (bool, error) {
	was, err := lockEntries(ctx, m, a)
	if err != nil {
		return false, err
	}
	is, err := lockEntries(ctx, m, b)
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

func lockEntries(ctx context.Context, m *gitops.Mirror, at company.OID) (out []gitops.Entry, err error) {
	all, err := m.List(ctx, at)
	if err != nil {
		return nil, err
	}
	var total int64
	for _, e := range all {
		if !depproxy.IsLockFile(e.Path) || e.Mode != gitops.ModeFile && e.Mode != gitops.ModeExec || e.Size > depproxy.MaxLockFile || isVendoredPath(e.Path) {
			continue
		}
		if total+e.Size > maxLockBytes {
			continue
		}
		total += e.Size
		if out = append(out, e); len(out) == maxLocks {
			break
		}
	}
	return out, nil
}

// isVendoredPath tells folders whose lock files are not the project's own.
func isVendoredPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "node_modules", "vendor", "third_party", "testdata", "site-packages":
			return true
		}
	}
	return false
}
