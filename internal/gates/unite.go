package gates

import (
	"context"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// MergeHeads merges two commits as gitops.Mirror.MergeTree does. Where they conflict in
// nothing but files that their clients generate, and these can be brought together by a
// rule, the result is a clean one of its own: a model is not asked to merge lock files
// (SUB-19). The same two commits give the same tree; that it holds the gates show.
func MergeHeads(ctx context.Context, m *gitops.Mirror, ours, theirs company.OID) (gitops.MergeResult, error) {
	merged, err := m.MergeTree(ctx, ours, theirs)
	if err != nil || merged.Clean || !isUnitable(merged) {
		return merged, err
	}
	base, err := m.MergeBase(ctx, ours, theirs)
	if err != nil {
		return merged, err
	}
	united := map[string][]byte{}
	for _, name := range merged.Files {
		text, ok, err := uniteFile(ctx, m, name, [3]company.OID{base, ours, theirs})
		if err != nil || !ok {
			return merged, err
		}
		united[name] = text
	}
	tree, err := m.AddFiles(ctx, merged.Tree, united)
	if err != nil {
		return merged, err
	}
	return gitops.MergeResult{Tree: tree, Clean: true}, nil
}

// isUnitable reports whether all conflicts of a merge are in the content of files that an
// ecosystem brings together.
func isUnitable(merged gitops.MergeResult) bool {
	return len(merged.Files) > 0 && !slices.ContainsFunc(merged.Conflicts, func(c gitops.Conflict) bool { return c.Type != "CONFLICT (contents)" }) &&
		!slices.ContainsFunc(merged.Files, func(name string) bool { return findUniter(name) == nil })
}

func findUniter(name string) ecosystem.Uniter {
	for _, e := range catalog.Of[ecosystem.Uniter]() {
		if e.Unites(path.Base(name)) {
			return e
		}
	}
	return nil
}

// uniteFile brings the two sides of a file together. Both must have it as a plain file.
func uniteFile(ctx context.Context, m *gitops.Mirror, name string, at [3]company.OID) (text []byte, ok bool, err error) {
	var sides [3][]byte
	for i, commit := range at {
		entries, err := m.List(ctx, commit)
		if err != nil {
			return nil, false, err
		}
		there := slices.IndexFunc(entries, func(e gitops.Entry) bool { return e.Path == name })
		if there < 0 && i == 0 {
			continue // both sides have made it
		}
		if there < 0 || entries[there].Mode != gitops.ModeFile {
			return nil, false, nil
		}
		switch sides[i], err = m.ReadFile(ctx, commit, name); company.CodeOf(err) {
		case "":
		case company.EObjects: // too large to be read
			return nil, false, nil
		default:
			return nil, false, err
		}
	}
	text, ok = findUniter(name).Unite(path.Base(name), sides[0], sides[1], sides[2])
	return text, ok, nil
}
