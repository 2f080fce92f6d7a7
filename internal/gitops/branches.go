package gitops

import (
	"context"
	"errors"
	"io/fs"
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
	r, err := q.s.runOK(ctx, call{dir: q.dir, args: []string{"for-each-ref", "--format=%(objectname) %(refname)", agentSpace}})
	if err != nil {
		return nil, err
	}
	pattern := BranchPattern(q.ticket)
	out = map[string]OID{}
	for line := range strings.SplitSeq(r.outputText(), "\n") {
		id, name, ok := strings.Cut(line, " ")
		if ok && pattern.MatchString(name) && OID(id).Valid() {
			out[name] = OID(id)
		}
	}
	return out, nil
}

// readBranches reads the branches from files. False: they are not as a push leaves
// them, and git knows better.
func (q *Quarantine) readBranches() (map[string]OID, bool, error) {
	repo := q.s.relName(q.dir) + "/"
	if _, err := q.s.own.Lstat(repo + "packed-refs"); !errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // also where it cannot be told
	}
	out := map[string]OID{}
	files, err := q.s.own.List(repo + strings.TrimSuffix(agentSpace, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		return out, true, nil
	}
	if err != nil {
		return nil, false, storeError("the branches of run "+string(q.run)+" cannot be read", err)
	}
	pattern := BranchPattern(q.ticket)
	for _, f := range files {
		name := agentSpace + f.Name()
		if strings.HasSuffix(name, ".lock") || !pattern.MatchString(name) {
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
	return out, true, nil
}
