package toolserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"company/internal/toolbox/toolproto"
)

// Object ids are git's. A run's id becomes part of a ref.
var (
	oidRE = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	runRE = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}\.[1-9][0-9]{0,5}$`)
)

// prepareWorkspace creates the clone. It borrows the objects of a baked repository through alternates, so that only
// newer objects are fetched.
func (s *Server) prepareWorkspace(
	ctx context.Context, request toolproto.PrepareRequest,
) (toolproto.PrepareResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.PrepareResult
	switch {
	case s.repo.branch != "":
		return none, toolproto.Refuse(toolproto.KindArgument, "the workspace is prepared already, for %s", s.repo.branch)
	case request.CloneURL == "" || strings.HasPrefix(request.CloneURL, "-"):
		return none, toolproto.Refuse(toolproto.KindArgument, "clone_url is missing")
	case !oidRE.MatchString(request.BaseOID):
		return none, toolproto.Refuse(toolproto.KindArgument, "base_oid is not a full object id")
	case request.Resume != "" && !oidRE.MatchString(request.Resume):
		return none, toolproto.Refuse(toolproto.KindArgument, "resume is not a full object id")
	case request.AuthorName == "" || request.AuthorEmail == "":
		return none, toolproto.Refuse(toolproto.KindArgument, "author_name and author_email are needed")
	}
	if _, err := s.runGit(ctx, nil, "check-ref-format", "--branch", request.Branch); err != nil ||
		strings.HasPrefix(request.Branch, "-") {
		return none, toolproto.Refuse(toolproto.KindArgument, "%q is not a branch name", request.Branch)
	}
	if err := s.services.ensureRunning(ctx); err != nil {
		return none, err
	}
	if err := s.cloneRepo(ctx, request); err != nil {
		return none, asRefusal(err, "")
	}
	result, err := s.checkoutBranch(ctx, request)
	if err != nil {
		return none, asRefusal(err, "")
	}
	if err := makeReady(ctx, s.children, s.readyAt, s.dir, s.env); err != nil {
		return none, fmt.Errorf("link the image's dependencies: %w", err)
	}
	s.repo.last, s.repo.lastOf = toolproto.CheckpointResult{Exact: true}, result.Head
	if result.Dirty || result.Exact {
		s.repo.last.OID, s.repo.lastOf = request.Resume, request.Resume
	}
	s.repo.head = result.Head
	s.repo.lastHead = result.Head
	s.repo.origin = request.CloneURL
	s.processes.setHolder(request.Holder)
	if request.Signoff {
		s.repo.signoff = fmt.Sprintf("Signed-off-by: %s <%s>", request.AuthorName, request.AuthorEmail)
	}
	s.repo.branch = request.Branch
	if s.repo.lastText, _, err = s.describeWorkspace(ctx); err != nil {
		return none, asRefusal(err, "")
	}
	return result, nil
}

// attributes keep files identical to their blobs: line ends are not converted, no filter runs, and LFS pointers stay
// pointers. They override .gitattributes.
const attributes = "* -text -ident -filter -working-tree-encoding\n"

// cloneRepo clones the repository, without files. It gets the host's own references, too.
func (s *Server) cloneRepo(ctx context.Context, request toolproto.PrepareRequest) error {
	args := []string{"clone", "--quiet", "--no-checkout", "--no-tags", "--template="}
	if request.Baked != "" {
		args = append(args, "--reference-if-able", request.Baked)
	}
	for _, setting := range []string{
		"core.autocrlf=false", "submodule.recurse=false", "fetch.recurseSubmodules=false", "push.default=current",
		"user.name=" + request.AuthorName, "user.email=" + request.AuthorEmail, "user.useConfigOnly=true",
		"remote.origin.fetch=+refs/company/*:refs/company/*",
	} {
		args = append(args, "--config", setting)
	}
	if _, err := s.runGit(ctx, nil, append(args, request.CloneURL, ".")...); err != nil {
		return err
	}
	// A clone begins with a branch of its own, which the work tree does not use.
	if _, err := s.runGit(ctx, nil, "update-ref", "-d", "HEAD"); err != nil {
		return err
	}
	if err := s.root.MkdirAll(".git/info", 0o755); err != nil {
		return fmt.Errorf("set up the repository: %w", err)
	}
	if err := s.root.WriteFile(".git/info/attributes", []byte(attributes), 0o644); err != nil {
		return fmt.Errorf("set up the repository: %w", err)
	}
	s.repo.identity.Store(&[]string{
		"GIT_AUTHOR_NAME=" + request.AuthorName, "GIT_AUTHOR_EMAIL=" + request.AuthorEmail,
		"GIT_COMMITTER_NAME=" + request.AuthorName, "GIT_COMMITTER_EMAIL=" + request.AuthorEmail,
	})
	return nil
}

// checkoutBranch checks out the branch where work continues. With a checkpoint, that is its parent, and the
// checkpoint's tree becomes uncommitted changes. Otherwise it is origin's branch, or else the base. A checkpoint that
// is older than a pushed commit is ignored.
func (s *Server) checkoutBranch(
	ctx context.Context, request toolproto.PrepareRequest,
) (toolproto.PrepareResult, error) {
	var none toolproto.PrepareResult
	start, err := s.commitOf(ctx, request.BaseOID)
	if err != nil {
		return none, notServedError(err, "the base", request.BaseOID)
	}
	result := toolproto.PrepareResult{Branch: request.Branch}
	if len(request.Paths) > 0 {
		if _, err := s.runGit(ctx, nil,
			append([]string{"sparse-checkout", "set", "--cone", "--end-of-options"}, request.Paths...)...); err != nil {
			return none, err
		}
	}
	switch {
	case request.Resume == "" && request.Exact:
		result.Head = start
		_, err := s.runGit(ctx, nil, "checkout", "--quiet", "--force", "--no-track", "-B", request.Branch, start)
		return result, err
	case request.Exact:
		return s.restoreCheckpoint(ctx, request)
	}
	pushed, err := s.pushedOn(ctx, start, request.Branch)
	if err != nil {
		return none, err
	}
	if pushed != "" {
		start = pushed
	}
	// A checkpoint is never part of a branch. If it is, it is a plain commit: the result of a checkpoint without changes.
	if request.Resume != "" {
		parent, overtaken, err := s.checkpointOn(ctx, request.Resume, start, pushed)
		if err != nil {
			return none, err
		}
		if overtaken {
			result.Note = "the branch has a commit that is newer than the checkpoint; work goes on from that commit"
		} else if parent != "" {
			start, result.Dirty = parent, true
		}
	}
	if _, err := s.runGit(ctx, nil, "checkout", "--quiet", "--force", "--no-track", "-B", request.Branch,
		string(start)); err != nil {
		return none, err
	}
	if result.Dirty {
		if err := s.layOut(ctx, request.Resume); err != nil {
			return none, err
		}
		status, err := s.runGit(ctx, nil, "status", "--porcelain=v1")
		if err != nil {
			return none, err
		}
		result.Dirty = status != ""
	}
	result.Head = start
	return result, nil
}

// pushedOn returns the head of origin's branch if it descends from start, or "".
func (s *Server) pushedOn(ctx context.Context, start, branch string) (string, error) {
	pushed, err := s.findCommit(ctx, "refs/remotes/origin/"+branch)
	if err != nil || pushed == "" {
		return "", err
	}
	if on, err := s.isAncestor(ctx, start, pushed); err != nil || !on {
		return "", err
	}
	return pushed, nil
}

// checkpointOn returns the commit that a checkpoint was made on, or "" if start contains the checkpoint. overtaken
// reports that a commit was pushed after it.
func (s *Server) checkpointOn(
	ctx context.Context, checkpoint, start, pushed string,
) (parent string, overtaken bool, err error) {
	if held, err := s.isAncestor(ctx, checkpoint, start); err != nil || held {
		return "", false, err
	}
	parent, err = s.commitOf(ctx, checkpoint+"^1")
	if err != nil {
		return "", false, notServedError(err, "the checkpoint", checkpoint)
	}
	if pushed != "" && parent != pushed {
		overtaken, err = s.isAncestor(ctx, parent, pushed)
	}
	return parent, overtaken, err
}

// layOut sets the files to those of a commit. HEAD stays, and the index stays that of HEAD.
func (s *Server) layOut(ctx context.Context, commit string) error {
	if _, err := s.runGit(ctx, nil, "read-tree", "-m", "-u", "HEAD", commit); err != nil {
		return err
	}
	_, err := s.runGit(ctx, nil, "reset", "--quiet", "--mixed", "HEAD")
	return err
}

func notServedError(err error, what, name string) error {
	var said *gitFailed
	if errors.As(err, &said) {
		return toolproto.Refuse(toolproto.KindGit, "%s %s is not in what origin serves", what, name)
	}
	return err
}
