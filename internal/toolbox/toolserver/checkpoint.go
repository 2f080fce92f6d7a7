package toolserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"company/internal/toolbox/toolproto"
)

// A checkpoint is a commit of the work tree whose first parent is HEAD. Its message contains the other state that a
// later container needs. The commits that the message refers to are further parents, so that they are pushed, too.

// saveCheckpoint saves the workspace. It uses a separate index, so that neither the agent's index nor its branch
// changes.
func (s *Server) saveCheckpoint(
	ctx context.Context, request toolproto.CheckpointRequest,
) (toolproto.CheckpointResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.CheckpointResult
	if err := s.checkPrepared(); err != nil {
		return none, err
	}
	if !runRE.MatchString(request.Run) {
		return none, toolproto.Refuse(toolproto.KindArgument, "%q is not a run id", request.Run)
	}
	var head, tree string
	var noHead, notSaved error
	var asking sync.WaitGroup
	asking.Go(func() { head, noHead = s.commitOf(ctx, "HEAD") })
	asking.Go(func() { tree, notSaved = s.saveFiles(ctx) })
	text, described, err := s.describeWorkspace(ctx)
	asking.Wait()
	switch {
	case noHead != nil:
		return none, asRefusal(noHead, "HEAD names no commit")
	case notSaved != nil:
		return none, asRefusal(notSaved, "the work tree could not be saved")
	case err != nil:
		return none, asRefusal(err, "the state of git could not be saved")
	}
	if s.repo.last.Tree == "" {
		if s.repo.last.Tree, err = s.gitLine(ctx, "rev-parse", "--verify", s.repo.lastOf+"^{tree}"); err != nil {
			return none, asRefusal(err, "")
		}
	}
	last := s.repo.last
	if tree == last.Tree && head == s.repo.lastHead && text == s.repo.lastText && last.Exact {
		return toolproto.CheckpointResult{OID: last.OID, Tree: tree, Exact: true}, nil
	}
	result := toolproto.CheckpointResult{Tree: tree, Changed: tree != last.Tree, Exact: described.why == "",
		Why: described.why}
	parents := []string{head}
	if len(described.Index) > 0 {
		staged, err := s.saveIndex(ctx, head, described.Index)
		if err != nil {
			return none, asRefusal(err, "the index could not be saved")
		}
		parents = append(parents, staged)
	}
	parents = append(parents, described.commitIDs()...)
	if result.OID, err = s.saveCommit(ctx, request.Run, tree, text, parents); err != nil {
		return none, err
	}
	s.repo.last = result
	s.repo.lastHead = head
	s.repo.lastText = text
	return result, nil
}

// saveFiles writes the tree of all files that are not ignored, and returns its id.
func (s *Server) saveFiles(ctx context.Context) (tree string, err error) {
	own, drop := s.ownIndex("checkpoint-index")
	defer drop()
	// A copy of the index knows which files are unchanged.
	data, err := os.ReadFile(filepath.Join(s.dir, ".git", "index"))
	if err == nil {
		err = os.WriteFile(strings.TrimPrefix(own.env[0], "GIT_INDEX_FILE="), data, 0o600)
	}
	if err != nil {
		if _, err := s.runGit(ctx, own, "read-tree", "HEAD"); err != nil {
			return "", err
		}
	}
	if _, err := s.runGit(ctx, own, "add", "--sparse", "--all", "--", "."); err != nil {
		return "", err
	}
	out, err := s.runGit(ctx, own, "write-tree")
	return strings.TrimSpace(out), err
}

// ownIndex returns git settings for an index file separate from the agent's.
func (s *Server) ownIndex(name string) (run *gitRun, drop func()) {
	path := filepath.Join(s.temp, name)
	return &gitRun{env: []string{"GIT_INDEX_FILE=" + path}}, func() { _ = os.Remove(path) }
}

// saveIndex commits the index. The sides of a conflict become files beside the conflicting one.
func (s *Server) saveIndex(ctx context.Context, head string, entries []string) (string, error) {
	own, drop := s.ownIndex("staged-index")
	defer drop()
	if _, err := s.runGit(ctx, own, "read-tree", head); err != nil {
		return "", err
	}
	var in strings.Builder
	for _, e := range entries {
		info, path, _ := strings.Cut(e, "\t")
		if stage := info[len(info)-1]; stage != '0' {
			info, path = info[:len(info)-1]+"0", path+"~"+string(stage)
		}
		in.WriteString(info + "\t" + path + "\x00")
	}
	own.stdin = in.String()
	if _, err := s.runGit(ctx, own, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	own.stdin = ""
	tree, err := s.runGit(ctx, own, "write-tree")
	if err != nil {
		return "", err
	}
	out, err := s.runGit(ctx, &gitRun{stdin: s.withSignOff("staged\n")}, "commit-tree", "--no-gpg-sign", "-p", head, "-F",
		"-", strings.TrimSpace(tree))
	return strings.TrimSpace(out), err
}

func (s *Server) withSignOff(message string) string {
	if s.repo.signoff != "" {
		message += "\n" + s.repo.signoff + "\n"
	}
	return message
}

// saveCommit makes the checkpoint's commit and pushes it.
func (s *Server) saveCommit(ctx context.Context, run, tree, text string, parents []string) (oid string, err error) {
	var each []string
	for _, p := range parents {
		if !slices.Contains(each, p) {
			each = append(each, p)
		}
	}
	message := s.withSignOff(fmt.Sprintf("checkpoint %s\n\n%s\n", run, text))
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	for _, p := range each {
		args = append(args, "-p", p)
	}
	out, err := s.runGit(ctx, &gitRun{stdin: message}, append(args, tree)...)
	if err != nil {
		return "", asRefusal(err, "")
	}
	oid = strings.TrimSpace(out)
	_, err = s.runGit(ctx, nil, "push", "--quiet", "--no-verify", s.repo.origin,
		"+"+oid+":refs/company/checkpoint/"+run)
	return oid, asRefusal(err, "the work tree was not saved")
}
