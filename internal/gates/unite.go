package gates

import (
	"context"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
	"company/internal/safetext"
)

// LockMaker has the clients of lock files make them anew.
type LockMaker interface {
	// RemakeLocks gives the lock files of a tree, which has those of one side, as their
	// clients make them of its manifests. An error means that this cannot be done.
	RemakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) ([]ecosystem.MadeLock, error)
}

// Merged are two commits brought together.
type Merged struct {
	gitops.MergeResult
	Remade []company.RemadeLock // lock files that their clients made anew
	Why    string               // of a conflict: why a client made no lock file
}

// MergeHeads merges two commits as gitops.Mirror.MergeTree does. Where they conflict in
// nothing but files that are brought together by a rule, and lock files that their clients
// make anew, the result is a clean one of its own: a model is not asked to merge those
// (SUB-19). Rules give the same tree each time; of a lock file the image's builder keeps
// the made text. That the tree holds the gates show.
func (r *Runner) MergeHeads(ctx context.Context, t *company.Task, m *gitops.Mirror, ours, theirs company.OID) (Merged, error) {
	merged, err := m.MergeTree(ctx, ours, theirs)
	out := Merged{MergeResult: merged}
	if err != nil || merged.Clean || !r.isUnitable(merged) {
		return out, err
	}
	base, err := m.MergeBase(ctx, ours, theirs)
	if err != nil {
		return out, err
	}
	texts := map[string][]byte{}
	var locks []ecosystem.LockConflict
	for _, name := range merged.Files {
		sides, ok, err := readSides(ctx, m, name, [3]company.OID{base, ours, theirs})
		if err != nil || !ok {
			return out, err
		}
		e := findUniter(name)
		if e == nil {
			texts[name] = sides[1]
			locks = append(locks, ecosystem.LockConflict{Path: name, Ours: sides[1], Theirs: sides[2]})
			continue
		}
		if texts[name], ok = e.Unite(path.Base(name), sides[0], sides[1], sides[2]); !ok {
			return out, nil
		}
	}
	tree, err := m.AddFiles(ctx, merged.Tree, texts)
	if err != nil {
		return out, err
	}
	if len(locks) == 0 {
		return Merged{MergeResult: gitops.MergeResult{Tree: tree, Clean: true}}, nil
	}
	return r.remakeLocks(ctx, t, m, out, tree, locks)
}

// remakeLocks finishes a merge whose lock files are to be made anew; tree is the merge
// with those of one side. Where that fails, the conflict stays, with the reason.
func (r *Runner) remakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, conflict Merged, tree company.OID, locks []ecosystem.LockConflict) (Merged, error) {
	made, err := r.Locks.RemakeLocks(ctx, t, m, tree, locks)
	if err != nil {
		if ctx.Err() != nil {
			return conflict, context.Cause(ctx)
		}
		r.Logger.InfoContext(ctx, "lock files are not made anew", "task", t.ID, "err", err)
		conflict.Why = safetext.EscapeLine(err.Error(), maxRemakeWhy)
		return conflict, nil
	}
	texts := map[string][]byte{}
	var remade []company.RemadeLock
	for _, l := range made {
		texts[l.Path] = l.Text
		remade = append(remade, company.RemadeLock{Path: l.Path, Command: l.Command, Of: tree})
	}
	whole, err := m.AddFiles(ctx, tree, texts)
	if err != nil {
		return conflict, err
	}
	return Merged{MergeResult: gitops.MergeResult{Tree: whole, Clean: true}, Remade: remade}, nil
}

// maxRemakeWhy bounds the reason of a client, in bytes.
const maxRemakeWhy = 400

// isUnitable reports whether all conflicts of a merge are in the content of files that an
// ecosystem brings together, or makes anew.
func (r *Runner) isUnitable(merged gitops.MergeResult) bool {
	return len(merged.Files) > 0 && !slices.ContainsFunc(merged.Conflicts, func(c gitops.Conflict) bool { return c.Type != "CONFLICT (contents)" }) &&
		!slices.ContainsFunc(merged.Files, func(name string) bool { return findUniter(name) == nil && (r.Locks == nil || !isRemakable(name)) })
}

func isRemakable(name string) bool {
	return slices.ContainsFunc(catalog.Of[ecosystem.Relocker](), func(e ecosystem.Relocker) bool { return e.Relocks(path.Base(name)) })
}

func findUniter(name string) ecosystem.Uniter {
	for _, e := range catalog.Of[ecosystem.Uniter]() {
		if e.Unites(path.Base(name)) {
			return e
		}
	}
	return nil
}

// readSides reads a file of the base and of two sides; nil for a base without it. Not ok:
// a side does not have it as a plain file of a size that is read.
func readSides(ctx context.Context, m *gitops.Mirror, name string, at [3]company.OID) (sides [3][]byte, ok bool, err error) {
	for i, commit := range at {
		entries, err := m.List(ctx, commit)
		if err != nil {
			return sides, false, err
		}
		there := slices.IndexFunc(entries, func(e gitops.Entry) bool { return e.Path == name })
		if there < 0 && i == 0 {
			continue // both sides have made it
		}
		if there < 0 || entries[there].Mode != gitops.ModeFile {
			return sides, false, nil
		}
		switch sides[i], err = m.ReadFile(ctx, commit, name); company.CodeOf(err) {
		case "":
		case company.EObjects: // too large to be read
			return sides, false, nil
		default:
			return sides, false, err
		}
	}
	return sides, true, nil
}
