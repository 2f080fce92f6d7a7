package gitops

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// agentSpace is the folder of a run's branches: their names have no slash.
const agentSpace = "refs/heads/agent/"

// Branches are the agent branches that the run pushed, by full name. They are read
// from git's files, since each push and each state of a run asks for them.
func (q *Quarantine) Branches(ctx context.Context) (map[string]OID, error) {
	if err := q.s.checkUntampered(q.dir); err != nil {
		return nil, err
	}
	out, ok, err := q.readBranches()
	if err != nil || ok {
		return out, err
	}
	out, err = q.askRefs(ctx, agentSpace)
	pattern := BranchPattern(q.ticket)
	maps.DeleteFunc(out, func(name string, _ OID) bool { return !pattern.MatchString(name) })
	return out, err
}

// askRefs asks git for the references in folders.
func (q *Quarantine) askRefs(ctx context.Context, spaces ...string) (map[string]OID, error) {
	r, err := q.s.runOK(ctx, call{dir: q.dir, args: append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, spaces...)})
	if err != nil {
		return nil, err
	}
	out := map[string]OID{}
	for line := range strings.SplitSeq(r.outputText(), "\n") {
		if id, name, ok := strings.Cut(line, " "); ok && OID(id).Valid() {
			out[name] = OID(id)
		}
	}
	return out, nil
}

// readBranches reads the branches from files. False: they are not as a push leaves
// them, and git knows better.
func (q *Quarantine) readBranches() (map[string]OID, bool, error) {
	out, ok, err := q.readRefs(agentSpace)
	pattern := BranchPattern(q.ticket)
	maps.DeleteFunc(out, func(name string, _ OID) bool { return !pattern.MatchString(name) })
	return out, ok, err
}

// readRefs reads the references in folders, which end with a slash, from files. False:
// they are not as a push or a fetch leaves them, and git knows better.
func (q *Quarantine) readRefs(spaces ...string) (map[string]OID, bool, error) {
	repo := q.s.relName(q.dir) + "/"
	if _, err := q.s.own.Lstat(repo + "packed-refs"); !errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // also where it cannot be told
	}
	out := map[string]OID{}
	folders := slices.Clone(spaces)
	for at := 0; at < len(folders); at++ {
		files, err := q.s.own.List(repo + strings.TrimSuffix(folders[at], "/"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, false, storeError("the references of run "+string(q.run)+" cannot be read", err)
		}
		for _, f := range files {
			name := folders[at] + f.Name()
			if f.IsDir() {
				folders = append(folders, name+"/")
				continue
			}
			if strings.HasSuffix(name, ".lock") {
				continue
			}
			text, err := q.s.own.ReadFile(repo+name, 0)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it has just been deleted
			}
			id := OID(strings.TrimSuffix(string(text), "\n"))
			if err != nil || !id.Valid() {
				return nil, false, nil
			}
			out[name] = id
		}
	}
	return out, true, nil
}
