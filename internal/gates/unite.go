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

// FileMaker has files made anew that two sides of a merge have changed.
type FileMaker interface {
	// RemakeLocks gives the lock files of a tree, which has those of one side, as their
	// clients make them of its manifests. An error means that this cannot be done.
	RemakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) ([]ecosystem.MadeFile, error)
	// RemakeGenerated gives the generated files that commands make of a tree: those that
	// were made of it before, of the same inputs in the same image, or what generate makes.
	// Inputs are the commands, and what decides which of their files count.
	RemakeGenerated(ctx context.Context, t *company.Task, tree company.OID, inputs []string, generate func(context.Context) (ecosystem.Generated, error)) (ecosystem.Generated, error)
}

// Merged are two commits brought together.
type Merged struct {
	gitops.MergeResult
	Remade []company.RemadeFile // files that their own programs made anew
	Why    string               // of a conflict: why a client made no lock file, or a generator no file
	Moved  bool                 // it is a conflict for what git would change in a moved file alone
}

// MergeHeads merges two commits as gitops.Mirror.MergeTree does. Where they conflict in
// nothing but files that are brought together by a rule, lock files that their clients
// make anew, and files that the project's generators make anew, the result is a clean one
// of its own: a model is not asked to merge those (SUB-19). Rules give the same tree each
// time; of a file that is made the image's builder keeps the text. That the tree holds the
// gates show.
//
// A merge that changes what needs the president's leave, and of which the changes of
// theirs tell nothing, is a conflict (see listMoved).
func (r *Runner) MergeHeads(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, ours, theirs company.OID) (Merged, error) {
	out, err := r.mergeHeads(ctx, s, t, m, ours, theirs)
	if err != nil || !out.Clean {
		return out, err
	}
	moved, err := listMoved(ctx, t, m, ours, theirs, out.Tree)
	if err != nil || len(moved) == 0 {
		return out, err
	}
	return Merged{MergeResult: gitops.MergeResult{Tree: out.Tree, Files: moved}, Moved: true}, nil
}

// mergeHeads is MergeHeads, which looks at what it comes to.
func (r *Runner) mergeHeads(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, ours, theirs company.OID) (Merged, error) {
	merged, err := m.MergeTree(ctx, ours, theirs)
	out := Merged{MergeResult: merged}
	if err != nil || merged.Clean || !r.isUnitable(t, merged) {
		return out, err
	}
	base, err := m.MergeBase(ctx, ours, theirs)
	if err != nil {
		return out, err
	}
	texts := map[string][]byte{}
	var locks []ecosystem.LockConflict
	var generated []string
	for _, name := range merged.Files {
		sides, ok, err := readSides(ctx, m, name, [3]company.OID{base, ours, theirs})
		if err != nil || !ok {
			return out, err
		}
		texts[name] = sides[1]
		e := findUniter(name)
		switch {
		case e != nil:
			texts[name], ok = e.Unite(path.Base(name), sides[0], sides[1], sides[2])
		case isRemakable(name):
			locks = append(locks, ecosystem.LockConflict{Path: name, Ours: sides[1], Theirs: sides[2]})
		default:
			generated, ok = append(generated, name), isGenerated(t, name, sides[1]) && isGenerated(t, name, sides[2])
		}
		if !ok {
			return out, nil
		}
	}
	tree, err := m.AddFiles(ctx, merged.Tree, texts)
	if err != nil {
		return out, err
	}
	made := Merged{MergeResult: gitops.MergeResult{Tree: tree, Clean: true}}
	if len(locks) > 0 {
		if made, err = r.remakeLocks(ctx, t, m, out, tree, locks); err != nil || !made.Clean {
			return made, err
		}
	}
	if len(generated) > 0 {
		return r.remakeGenerated(ctx, s, t, m, out, made, generated)
	}
	return made, nil
}

// listMoved lists the files that a merge changes by the president's leave alone, and that
// get what no leave was asked for. git follows a file to where the other side has moved
// it, and leave is asked for by the names that a ticket changes: an edit of ci/build.yml would
// arrive in .github/workflows/build.yml, whether theirs has the edit and ours the move, or theirs
// moves the file, with leave for what it holds there, and ours has the edit. As a conflict it
// goes to the merger, whose commit has the change under its new name.
func listMoved(ctx context.Context, t *company.Task, m *gitops.Mirror, ours, theirs, tree company.OID) ([]string, error) {
	effect, err := m.Diff(ctx, ours, tree, 0)
	if err != nil {
		return nil, err
	}
	need := t.ListLeaveNeeds(effect.Paths())
	if len(need) == 0 {
		return nil, nil
	}
	base, err := m.MergeBase(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	var told [2]map[string]bool // by ours and by theirs, since base
	for i, side := range []company.OID{ours, theirs} {
		if told[i], err = namesChanged(ctx, m, base, side); err != nil {
			return nil, err
		}
	}
	mixed, err := namesChanged(ctx, m, theirs, tree)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(need, func(name string) bool { return told[1][name] && (told[0][name] || !mixed[name]) }), nil
}

// namesChanged is the set of the names of files in which two commits or trees differ.
func namesChanged(ctx context.Context, m *gitops.Mirror, from, to company.OID) (map[string]bool, error) {
	d, err := m.Diff(ctx, from, to, 0)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(d.Changes))
	for _, c := range d.Changes {
		names[c.Path] = true
	}
	return names, nil
}

// remakeLocks finishes a merge whose lock files are to be made anew; tree is the merge
// with those of one side. Where that fails, the conflict stays, with the reason.
func (r *Runner) remakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, conflict Merged, tree company.OID, locks []ecosystem.LockConflict) (Merged, error) {
	made, err := r.Files.RemakeLocks(ctx, t, m, tree, locks)
	if err != nil {
		if ctx.Err() != nil {
			return conflict, context.Cause(ctx)
		}
		r.Logger.InfoContext(ctx, "lock files are not made anew", "task", t.ID, "err", err)
		conflict.Why = safetext.EscapeLine(err.Error(), maxRemakeWhy)
		return conflict, nil
	}
	return addMade(ctx, m, Merged{MergeResult: gitops.MergeResult{Tree: tree, Clean: true}}, made)
}

// addMade is a merge with files that were made of its tree.
func addMade(ctx context.Context, m *gitops.Mirror, of Merged, made []ecosystem.MadeFile) (Merged, error) {
	texts, out := map[string][]byte{}, of
	for _, f := range made {
		texts[f.Path] = f.Text
		out.Remade = append(out.Remade, company.RemadeFile{Path: f.Path, Command: f.Command, Of: of.Tree})
	}
	var err error
	out.Tree, err = m.AddFiles(ctx, of.Tree, texts)
	return out, err
}

// maxRemakeWhy bounds the reason of a client or a generator, in bytes.
const maxRemakeWhy = 400

// isUnitable reports whether all conflicts of a merge are in the content of files that an
// ecosystem brings together, or that may be made anew.
func (r *Runner) isUnitable(t *company.Task, merged gitops.MergeResult) bool {
	return len(merged.Files) > 0 && !slices.ContainsFunc(merged.Conflicts, func(c gitops.Conflict) bool { return c.Type != "CONFLICT (contents)" }) &&
		!slices.ContainsFunc(merged.Files, func(name string) bool {
			return findUniter(name) == nil && (r.Files == nil || !isRemakable(name) && !mayBeGenerated(t, name))
		})
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
