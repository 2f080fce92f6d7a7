package replay

import (
	"context"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gitops"
)

// FileReader reads files of the office that did the task.
type FileReader interface {
	// ReadRecorded reads a file of a tree that is in the record.
	ReadRecorded(ctx context.Context, tree company.OID, name string) ([]byte, error)
}

// MadeFiles gives the files that were made anew for merges in the record. No client and no
// generator is run: a registry may have other versions by now, and a generator the time.
type MadeFiles struct {
	Record *Record
	Files  FileReader
}

// RemakeLocks gives the recorded lock files that were made of this tree. One that is not
// in the record is an error, as where its client has failed: the merge is a conflict.
func (l MadeFiles) RemakeLocks(ctx context.Context, _ *company.Task, _ *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) ([]ecosystem.MadeFile, error) {
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
		err = company.E(company.ENotFound, "the record has no "+name+" that was made anew of "+of.Short())
	}
	if err != nil {
		return ecosystem.MadeFile{}, err
	}
	return all[0], nil
}

// RemakeGenerated gives the recorded files that were generated of this tree. Where the
// record has none the generators have failed: the merge is a conflict.
func (l MadeFiles) RemakeGenerated(ctx context.Context, _ *company.Task, tree company.OID, _ []string, _ func(context.Context) (ecosystem.Generated, error)) (ecosystem.Generated, error) {
	all, err := l.readMade(ctx, tree, func(company.RemadeFile) bool { return true })
	out := ecosystem.Generated{Files: all}
	if len(all) == 0 {
		out.Why = "the record has no file that was generated of " + tree.Short()
	}
	return out, err
}

// readMade reads the files that were made of a tree, from the first tree of the record
// that has them.
func (l MadeFiles) readMade(ctx context.Context, of company.OID, counts func(company.RemadeFile) bool) ([]ecosystem.MadeFile, error) {
	for _, s := range l.Record.steps {
		for _, judged := range listRemade(s.data) {
			out, err := l.readFrom(ctx, judged, of, counts)
			if company.CodeOf(err) == company.ENotFound { // a tree that was not kept
				continue
			}
			if err != nil || len(out) > 0 {
				return out, err
			}
		}
	}
	return nil, nil
}

func (l MadeFiles) readFrom(ctx context.Context, judged remadeIn, of company.OID, counts func(company.RemadeFile) bool) (out []ecosystem.MadeFile, err error) {
	for _, f := range judged.files {
		if f.Of != of || !counts(f) {
			continue
		}
		text, err := l.Files.ReadRecorded(ctx, judged.tree, f.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, ecosystem.MadeFile{Path: f.Path, Command: f.Command, Text: text})
	}
	return out, nil
}

// remadeIn are the files of a tree that were made anew.
type remadeIn struct {
	tree  company.OID
	files []company.RemadeFile
}

// listRemade lists the files that a step of the record has made anew.
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

// settleConflict has a conflict bear the recorded reason why its files are not made anew, or
// none: it is in the merger's brief, and no program ran that could give one.
func (d *Director) settleConflict(c company.Command) company.Command {
	conflict, ok := c.(company.ReportConflict)
	if !ok {
		return c
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
