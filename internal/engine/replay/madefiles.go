package replay

import (
	"context"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gitops"
)

// FileReader reads files of the office that ran the task.
type FileReader interface {
	// ReadRecorded reads a file of a tree that is in the record.
	ReadRecorded(ctx context.Context, tree company.OID, name string) ([]byte, error)
}

// MadeFiles returns the files that were regenerated for merges in the record. It runs no client and no generator,
// because a registry may have other versions by now and a generator may write the time.
type MadeFiles struct {
	Record *Record
	Files  FileReader
}

// RemakeLocks returns the recorded lock files that were made from this tree. It fails if one is not in the record, as
// if its client had failed: the merge is then a conflict.
func (l MadeFiles) RemakeLocks(
	ctx context.Context, _ *company.Task, _ *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict,
) ([]ecosystem.MadeFile, error) {
	var out []ecosystem.MadeFile
	for _, c := range locks {
		made, err := l.findMade(ctx, tree, c.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

func (l MadeFiles) findMade(ctx context.Context, of company.OID, name string) (ecosystem.MadeFile, error) {
	all, err := l.readMade(ctx, of, func(f company.RemadeFile) bool { return f.Path == name })
	if err == nil && len(all) == 0 {
		err = company.E(company.ENotFound, "the record has no "+name+" that was rebuilt for "+of.Short())
	}
	if err != nil {
		return ecosystem.MadeFile{}, err
	}
	return all[0], nil
}

// RemakeGenerated returns the recorded files that were generated from this tree. If the record has none, the
// generators have failed and the merge is a conflict.
func (l MadeFiles) RemakeGenerated(
	ctx context.Context, _ *company.Task, tree company.OID, _ []string,
	_ func(context.Context) (ecosystem.Generated, error),
) (ecosystem.Generated, error) {
	all, err := l.readMade(ctx, tree, func(company.RemadeFile) bool { return true })
	out := ecosystem.Generated{Files: all}
	if len(all) == 0 {
		out.Why = "the record has no file that was generated of " + tree.Short()
	}
	return out, err
}

// readMade reads the files that were made from a tree, taken from the first recorded tree that has them.
func (l MadeFiles) readMade(
	ctx context.Context, of company.OID, counts func(company.RemadeFile) bool,
) ([]ecosystem.MadeFile, error) {
	for _, s := range l.Record.steps {
		for _, judged := range listRemade(s.data) {
			out, err := l.readFrom(ctx, judged, of, counts)
			if company.CodeOf(err) == company.ENotFound { // this tree was not kept
				continue
			}
			if err != nil || len(out) > 0 {
				return out, err
			}
		}
	}
	return nil, nil
}

func (l MadeFiles) readFrom(
	ctx context.Context, judged remadeIn, of company.OID, counts func(company.RemadeFile) bool,
) (out []ecosystem.MadeFile, err error) {
	for _, remadeFile := range judged.files {
		if remadeFile.Of != of || !counts(remadeFile) {
			continue
		}
		text, err := l.Files.ReadRecorded(ctx, judged.tree, remadeFile.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, ecosystem.MadeFile{Path: remadeFile.Path, Command: remadeFile.Command, Text: text})
	}
	return out, nil
}

// remadeIn lists the regenerated files of a tree.
type remadeIn struct {
	tree  company.OID
	files []company.RemadeFile
}

// listRemade lists the files that were regenerated in a step of the record.
func listRemade(data company.Data) (out []remadeIn) {
	var members []company.StackMember
	switch d := data.(type) {
	case *company.GateFinished:
		return []remadeIn{{d.Result.Tree, d.Remade}}
	case *company.MergeGated:
		return []remadeIn{{d.Result.Tree, d.Remade}}
	case *company.StackRed:
		members = d.Members
	case *company.StackIntended:
		members = d.Members
	}
	for _, m := range members {
		out = append(out, remadeIn{m.Tree, m.Remade})
	}
	return out
}

// settleConflict sets a conflict's recorded reason why its files were not regenerated. The reason is in the merger's
// brief, and in a replay no program runs that could give one.
func (d *Director) settleConflict(command company.Command) company.Command {
	conflict, ok := command.(company.ReportConflict)
	if !ok {
		return command
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.record.steps[d.next:] {
		if was, ok := s.data.(*company.ConflictReported); ok && s.subtask == conflict.Subtask {
			conflict.Why = was.Why
			break
		}
	}
	return conflict
}
