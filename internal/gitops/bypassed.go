package gitops

import (
	"context"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops/cleanfilter"
)

// BypassedFile is a file whose content in git is not what a filter or another attribute of it demands.
type BypassedFile struct {
	Path string
	OID  company.OID
	By   cleanfilter.Bypass
}

// FindBypassed lists the files among changes since base, and among more, that bypass an attribute. A filter that may
// seal counts if base or the new state gives it to the file, whichever case its pattern has: the change may have taken
// the line out of .gitattributes. The attributes of a checkout alone (.git/info/attributes) are not known here.
func (m *Mirror) FindBypassed(
	ctx context.Context, base company.OID, changes []FileChange, more []NewFile,
) ([]BypassedFile, error) {
	return m.s.findBypassed(ctx, m, bypassSearch{dir: m.dir, base: base, changes: changes, more: more})
}

// FindBypassed is like Mirror.FindBypassed, for what a commit of the run changes. mirror has the base.
func (q *Quarantine) FindBypassed(ctx context.Context, mirror *Mirror, head company.OID) ([]BypassedFile, error) {
	changes, err := q.s.diffChanges(ctx, q.dir, q.base, head)
	if err != nil {
		return nil, err
	}
	return q.s.findBypassed(ctx, mirror, bypassSearch{dir: q.dir, limited: true, base: q.base, changes: changes})
}

// bypassSearch is what findBypassed looks through.
type bypassSearch struct {
	dir     string // the repository with the new objects
	limited bool   // they come from a container
	base    company.OID
	changes []FileChange
	more    []NewFile
}

// candidate is a new content of a file, with the attributes that it may bypass: those of the new state first.
type candidate struct {
	NewFile
	oldOID     company.OID         // of the content before, empty if there was none
	attributes []map[string]string // value by name
}

func (s *Store) findBypassed(ctx context.Context, mirror *Mirror, search bypassSearch) ([]BypassedFile, error) {
	list := search.listCandidates()
	if err := s.addAttributes(ctx, mirror, search, list); err != nil {
		return nil, err
	}
	olds, news := blobReader{s: s, dir: mirror.dir}, blobReader{s: s, dir: search.dir, limited: search.limited}
	defer olds.close()
	defer news.close()
	var out []BypassedFile
	for _, candidate := range list {
		var old []byte
		var err error
		if candidate.oldOID != "" {
			// A seal of which no attribute tells is in a small file.
			old, err = olds.readBlob(ctx, candidate.oldOID, maxBlobBytes)
			if err != nil && company.CodeOf(err) != company.EObjects {
				return nil, err
			}
		}
		if !cleanfilter.IsSealed(old) && !slices.ContainsFunc(candidate.attributes, cleanfilter.MayMatter) {
			continue
		}
		text, err := news.readBlob(ctx, candidate.OID, maxReadBytes)
		if err != nil {
			return nil, err
		}
		if by := candidate.judgeContent(old, text); by != "" {
			out = append(out, BypassedFile{Path: candidate.Path, OID: candidate.OID, By: by})
		}
	}
	slices.SortFunc(out, func(a, b BypassedFile) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// blobReader reads blobs of a repository. It starts its process for the first one.
type blobReader struct {
	s       *Store
	dir     string
	limited bool
	batch   *batch
}

func (r *blobReader) readBlob(ctx context.Context, id company.OID, limit int64) (text []byte, err error) {
	if r.batch == nil {
		if r.batch, err = r.s.startBatch(ctx, r.dir, nil, r.limited); err != nil {
			return nil, err
		}
	}
	return r.batch.read(id, "blob", limit)
}

func (r *blobReader) close() {
	if r.batch != nil {
		r.batch.close()
	}
}

// judgeContent returns what the content bypasses. Of the attributes that the new state does not give to the file, only
// those count that need a person's permission.
func (c *candidate) judgeContent(old, text []byte) cleanfilter.Bypass {
	for _, attributes := range c.attributes {
		if by := cleanfilter.Judge(attributes, old, text); by.NeedsLeave() {
			return by
		}
	}
	return cleanfilter.Judge(c.attributes[0], old, text)
}

// listCandidates lists the new contents of regular files, each once.
func (b bypassSearch) listCandidates() []*candidate {
	isFile := func(mode int) bool { return mode == ModeFile || mode == ModeExec }
	var out []*candidate
	seen := map[NewFile]bool{}
	for _, change := range b.changes {
		file := NewFile{change.Path, change.NewOID}
		seen[file] = true
		if !isFile(change.NewMode) || change.OldOID == change.NewOID {
			continue
		}
		found := &candidate{NewFile: file}
		if isFile(change.OldMode) {
			found.oldOID = change.OldOID
		}
		out = append(out, found)
	}
	for _, file := range b.more {
		if !seen[file] {
			seen[file] = true
			out = append(out, &candidate{NewFile: file})
		}
	}
	return out
}

// addAttributes adds the attributes in the new state and in the base, with names as Linux and as macOS compare them.
func (s *Store) addAttributes(ctx context.Context, mirror *Mirror, search bypassSearch, list []*candidate) error {
	if len(list) == 0 {
		return nil
	}
	before, err := mirror.List(ctx, search.base)
	if err != nil {
		return err
	}
	check := attributeCheck{names: cleanfilter.Names(), limited: search.limited}
	for _, candidate := range list {
		check.paths = append(check.paths, candidate.Path)
	}
	slices.Sort(check.paths)
	check.paths = slices.Compact(check.paths)
	isSource := func(name string) bool { return path.Base(name) == ".gitattributes" }
	states := [][]Entry{slices.DeleteFunc(before, func(e Entry) bool { return !isSource(e.Path) })}
	if changed := slices.DeleteFunc(slices.Clone(search.changes),
		func(c FileChange) bool { return !isSource(c.Path) }); len(changed) > 0 {
		states = [][]Entry{applyChanges(states[0], changed), states[0]}
	}
	for _, state := range states {
		check.files = state
		found, err := s.checkAttributes(ctx, search.dir, check, false, true)
		if err != nil {
			return err
		}
		for _, values := range found {
			of := map[string]map[string]string{}
			for attribute, value := range values {
				if of[attribute.Path] == nil {
					of[attribute.Path] = map[string]string{}
				}
				of[attribute.Path][attribute.Name] = value
			}
			for _, candidate := range list {
				candidate.attributes = append(candidate.attributes, of[candidate.Path])
			}
		}
	}
	return nil
}

// applyChanges returns the entries after the changes.
func applyChanges(entries []Entry, changes []FileChange) []Entry {
	out := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return slices.ContainsFunc(changes, func(c FileChange) bool { return c.Path == e.Path })
	})
	for _, change := range changes {
		if change.NewMode != 0 {
			out = append(out, Entry{Path: change.Path, Mode: change.NewMode, OID: change.NewOID})
		}
	}
	return out
}
