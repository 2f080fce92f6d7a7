package gitops

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// agentSpace is the folder of a run's branches. Their names contain no further slash.
const agentSpace = "refs/heads/agent/"

// Branches returns the agent branches that the run pushed, by full name. It reads git's files directly, because each
// push and each state of a run needs the branches.
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

// askRefs lists the references in folders, using git.
func (q *Quarantine) askRefs(ctx context.Context, spaces ...string) (map[string]OID, error) {
	result, err := q.s.runOK(
		ctx, call{dir: q.dir, args: append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, spaces...)})
	if err != nil {
		return nil, err
	}
	out := map[string]OID{}
	for line := range strings.SplitSeq(result.outputText(), "\n") {
		if id, name, ok := strings.Cut(line, " "); ok && OID(id).Valid() {
			out[name] = OID(id)
		}
	}
	return out, nil
}

// readBranches reads the branches from files. It returns false if the files are not as a push leaves them, and git
// must be asked.
func (q *Quarantine) readBranches() (map[string]OID, bool, error) {
	out, ok, err := q.readRefs(agentSpace)
	pattern := BranchPattern(q.ticket)
	maps.DeleteFunc(out, func(name string, _ OID) bool { return !pattern.MatchString(name) })
	return out, ok, err
}

// readRefs reads the references in folders, which end with a slash, from files. It returns false if they are not as a
// push or fetch leaves them, and git must be asked.
func (q *Quarantine) readRefs(spaces ...string) (map[string]OID, bool, error) {
	repo := q.s.relName(q.dir) + "/"
	if _, err := q.s.own.Lstat(repo + "packed-refs"); !errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // or it cannot be determined
	}
	out := map[string]OID{}
	folders := slices.Clone(spaces)
	for index := 0; index < len(folders); index++ {
		files, err := q.s.own.List(repo + strings.TrimSuffix(folders[index], "/"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, false, storeError("the references of run "+string(q.run)+" cannot be read", err)
		}
		for _, entry := range files {
			name := folders[index] + entry.Name()
			if entry.IsDir() {
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
