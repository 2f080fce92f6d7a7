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

// Locks gives the lock files that clients made anew for merges in the record. No client
// is run: a registry may have other versions by now.
type Locks struct {
	Record *Record
	Files  FileReader
}

// RemakeLocks gives the recorded lock files that were made of this tree. One that is not
// in the record is an error, as where its client has failed: the merge is a conflict.
func (l Locks) RemakeLocks(ctx context.Context, _ *company.Task, _ *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) ([]ecosystem.MadeLock, error) {
	var out []ecosystem.MadeLock
	for _, c := range locks {
		made, err := l.findMade(ctx, tree, c.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

func (l Locks) findMade(ctx context.Context, of company.OID, name string) (ecosystem.MadeLock, error) {
	for _, s := range l.Record.steps {
		for _, judged := range listRemade(s.data) {
			for _, lock := range judged.locks {
				if lock.Of != of || lock.Path != name {
					continue
				}
				text, err := l.Files.ReadRecorded(ctx, judged.tree, name)
				if company.CodeOf(err) == company.ENotFound { // a tree that was not kept
					continue
				}
				return ecosystem.MadeLock{Path: name, Command: lock.Command, Text: text}, err
			}
		}
	}
	return ecosystem.MadeLock{}, company.E(company.ENotFound, "the record has no "+name+" that was made anew of "+of.Short())
}

// remadeIn are the lock files of a tree that were made anew.
type remadeIn struct {
	tree  company.OID
	locks []company.RemadeLock
}

// listRemade lists the lock files that a step of the record has made anew.
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
