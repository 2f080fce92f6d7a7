package gates

import (
	"context"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// FileMaker regenerates files that both sides of a merge have changed.
type FileMaker interface {
	// RemakeLocks returns the lock files of a tree as their clients create them from its manifests. The tree has the
	// lock files of one side. An error means that this is not possible.
	RemakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) (
		[]ecosystem.MadeFile, error)
	// RemakeGenerated returns the generated files that commands create from a tree. It returns earlier files made from
	// the same inputs in the same image, or else the result of generate. inputs are the commands and the settings that
	// decide which of their files count.
	RemakeGenerated(ctx context.Context, t *company.Task, tree company.OID, inputs []string,
		generate func(context.Context) (ecosystem.Generated, error)) (ecosystem.Generated, error)
}

// Merged is the merge of two commits.
type Merged struct {
	gitops.MergeResult
	Remade []company.RemadeFile // files that their own programs regenerated, or that kept one side's text by a rule
	Why    string               // of a conflict: why a client made no lock file or a generator no file
	Moved  bool                 // it is a conflict only because git would apply a change to a moved file
}

// MergeHeads merges two commits as gitops.Mirror.MergeTreeBy does, with the merge drivers of the task's base: no agent
// chooses how its own work is merged. Some conflicts are resolved without a model (SUB-19): files that are merged by a
// rule, lock files that their clients recreate, files that the project's generators recreate, and files whose driver
// keeps our side. If there are no other conflicts, the result is clean, with a tree of its own. Rules give the
// same tree each time; the text of recreated files is kept by the image's builder. The gates verify the tree.
//
// If a merge changes a file that needs the president's approval, and theirs does not show that change, the merge is a
// conflict (see listMoved).
func (r *Runner) MergeHeads(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, ours, theirs company.OID,
) (Merged, error) {
	out, err := r.mergeHeads(ctx, state, task, mirror, ours, theirs)
	if err != nil || !out.Clean {
		return out, err
	}
	moved, err := listMoved(ctx, task, mirror, ours, theirs, out.Tree)
	if err != nil || len(moved) == 0 {
		return out, err
	}
	return Merged{MergeResult: gitops.MergeResult{Tree: out.Tree, Files: moved}, Moved: true}, nil
}

// mergeHeads does the work of MergeHeads without the check of moved files.
func (r *Runner) mergeHeads(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, ours, theirs company.OID,
) (Merged, error) {
	var attributes company.OID
	if task.Prepared != nil {
		attributes = task.Prepared.Base.OID
	}
	merged, err := mirror.MergeTreeBy(ctx, ours, theirs, attributes)
	out := Merged{MergeResult: merged}
	if err != nil || merged.Clean {
		return out, err
	}
	for _, name := range merged.Files {
		if driver := merged.Drivers[name]; gitops.IsForeignDriver(driver) {
			r.Logger.InfoContext(ctx, "the merge driver of a file in conflict is a program and is not run", "task", task.ID,
				"path", name, "driver", driver)
		}
	}
	if !r.isUnitable(task, merged) {
		return out, nil
	}
	base, err := mirror.MergeBase(ctx, ours, theirs)
	if err != nil {
		return out, err
	}
	texts := map[string][]byte{}
	var locks []ecosystem.LockConflict
	var generated []string
	var kept []company.RemadeFile
	for _, name := range merged.Files {
		sides, ok, err := readSides(ctx, mirror, name, [3]company.OID{base, ours, theirs})
		if err != nil || !ok {
			return out, err
		}
		texts[name] = sides[1]
		uniter := findUniter(name)
		switch {
		case uniter != nil:
			texts[name], ok = uniter.Unite(path.Base(name), sides[0], sides[1], sides[2])
		case r.Files != nil && isRemakable(name):
			locks = append(locks, ecosystem.LockConflict{Path: name, Base: sides[0], Ours: sides[1], Theirs: sides[2]})
		case merged.Drivers[name] == gitops.DriverOurs:
			kept = append(kept, company.RemadeFile{Path: name, Command: company.KeptByRule})
		default:
			generated, ok = append(generated, name), isGenerated(task, name, sides[1]) && isGenerated(task, name, sides[2])
		}
		if !ok {
			return out, nil
		}
	}
	tree, err := mirror.AddFiles(ctx, merged.Tree, texts)
	if err != nil {
		return out, err
	}
	made := Merged{MergeResult: gitops.MergeResult{Tree: tree, Clean: true}}
	if len(locks) > 0 {
		if made, err = r.remakeLocks(ctx, task, mirror, out, tree, locks); err != nil || !made.Clean {
			return made, err
		}
	}
	if len(generated) > 0 {
		if made, err = r.remakeGenerated(ctx, state, task, mirror, out, made, generated); err != nil || !made.Clean {
			return made, err
		}
	}
	made.Remade = append(made.Remade, kept...)
	return made, nil
}

// listMoved lists the files that a merge changes, that need the president's approval, and whose new content was never
// shown for approval. git follows a file to its new path on the other side, while approval is requested by the paths
// that a subtask changes. So an edit of ci/build.yml would arrive in .github/workflows/build.yml. Either theirs has
// the edit and ours the move, or theirs moves the file, with approval of its content there, and ours has the edit. As
// a conflict it goes to the merger, whose commit shows the change under its new path.
func listMoved(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, ours, theirs, tree company.OID,
) ([]string, error) {
	effect, err := mirror.Diff(ctx, ours, tree, 0)
	if err != nil {
		return nil, err
	}
	need := task.ListLeaveNeeds(effect.Paths())
	if len(need) == 0 {
		return nil, nil
	}
	base, err := mirror.MergeBase(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	var told [2]map[string]bool // files changed by ours and by theirs, since base
	for i, side := range []company.OID{ours, theirs} {
		if told[i], err = namesChanged(ctx, mirror, base, side); err != nil {
			return nil, err
		}
	}
	mixed, err := namesChanged(ctx, mirror, theirs, tree)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(need, func(name string) bool { return told[1][name] && (told[0][name] || !mixed[name]) }), nil
}

// namesChanged returns the set of file paths in which two commits or trees differ.
func namesChanged(ctx context.Context, m *gitops.Mirror, from, to company.OID) (map[string]bool, error) {
	diff, err := m.Diff(ctx, from, to, 0)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(diff.Changes))
	for _, c := range diff.Changes {
		names[c.Path] = true
	}
	return names, nil
}

// remakeLocks finishes a merge by recreating its lock files. tree is the merge with the lock files of one side. On
// failure the conflict remains, with the reason.
func (r *Runner) remakeLocks(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, conflict Merged, tree company.OID,
	locks []ecosystem.LockConflict,
) (Merged, error) {
	made, err := r.Files.RemakeLocks(ctx, task, mirror, tree, locks)
	if err != nil {
		if ctx.Err() != nil {
			return conflict, context.Cause(ctx)
		}
		r.Logger.InfoContext(ctx, "lock files are not regenerated", "task", task.ID, "err", err)
		conflict.Why = safetext.EscapeLine(err.Error(), maxRemakeWhy)
		return conflict, nil
	}
	return addMade(ctx, mirror, Merged{MergeResult: gitops.MergeResult{Tree: tree, Clean: true}}, made)
}

// addMade returns a merge extended by files that were made from its tree.
func addMade(ctx context.Context, mirror *gitops.Mirror, of Merged, made []ecosystem.MadeFile) (Merged, error) {
	texts, out := map[string][]byte{}, of
	for _, madeFile := range made {
		texts[madeFile.Path] = madeFile.Text
		out.Remade = append(out.Remade, company.RemadeFile{Path: madeFile.Path, Command: madeFile.Command, Of: of.Tree})
	}
	var err error
	out.Tree, err = mirror.AddFiles(ctx, of.Tree, texts)
	return out, err
}

// maxRemakeWhy limits the reason given by a client or generator, in bytes.
const maxRemakeWhy = 400

// isUnitable reports whether all conflicts of a merge are content conflicts in files that an ecosystem can merge, that
// may be regenerated, or whose driver keeps our side. git names a file twice that it merges as a binary one.
func (r *Runner) isUnitable(task *company.Task, merged gitops.MergeResult) bool {
	return len(merged.Files) > 0 &&
		!slices.ContainsFunc(merged.Conflicts, func(c gitops.Conflict) bool {
			return c.Type != "CONFLICT (contents)" && c.Type != "CONFLICT (binary)"
		}) &&
		!slices.ContainsFunc(merged.Files, func(name string) bool {
			return findUniter(name) == nil && merged.Drivers[name] != gitops.DriverOurs &&
				(r.Files == nil || !isRemakable(name) && !mayBeGenerated(task, name))
		})
}

func isRemakable(name string) bool {
	return slices.ContainsFunc(catalog.Of[ecosystem.Relocker](),
		func(e ecosystem.Relocker) bool { return e.Relocks(path.Base(name)) })
}

func findUniter(name string) ecosystem.Uniter {
	for _, uniter := range catalog.Of[ecosystem.Uniter]() {
		if uniter.Unites(path.Base(name)) {
			return uniter
		}
	}
	return nil
}

// readSides reads a file of the base and of both sides. The base's text is nil if the base lacks the file. ok is
// false if a side lacks it as a plain file or if it is too large.
func readSides(
	ctx context.Context, mirror *gitops.Mirror, name string, at [3]company.OID,
) (sides [3][]byte, ok bool, err error) {
	for i, commit := range at {
		entries, err := mirror.List(ctx, commit)
		if err != nil {
			return sides, false, err
		}
		there := slices.IndexFunc(entries, func(e gitops.Entry) bool { return e.Path == name })
		if there < 0 && i == 0 {
			continue // both sides created it
		}
		if there < 0 || entries[there].Mode != gitops.ModeFile {
			return sides, false, nil
		}
		switch sides[i], err = mirror.ReadFile(ctx, commit, name); company.CodeOf(err) {
		case "":
		case company.EObjects: // too large to be read
			return sides, false, nil
		default:
			return sides, false, err
		}
	}
	return sides, true, nil
}
