package toolserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"company/internal/toolproto"
)

// Object ids are git's; a run's id becomes part of a ref.
var (
	oidRE = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	runRE = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}\.[1-9][0-9]{0,5}$`)
)

// prepareWorkspace makes the clone. The objects of a baked repository are borrowed
// through alternates, so only what came after it is fetched.
func (s *Server) prepareWorkspace(ctx context.Context, r toolproto.PrepareRequest) (toolproto.PrepareResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.PrepareResult
	switch {
	case s.repo.branch != "":
		return none, toolproto.Refuse(toolproto.KindArgument, "the workspace is prepared already, for %s", s.repo.branch)
	case r.CloneURL == "" || strings.HasPrefix(r.CloneURL, "-"):
		return none, toolproto.Refuse(toolproto.KindArgument, "clone_url is missing")
	case r.BaseOID == "" && r.BaseRef == "":
		return none, toolproto.Refuse(toolproto.KindArgument, "base_oid or base_ref is needed")
	case r.BaseOID != "" && !oidRE.MatchString(r.BaseOID):
		return none, toolproto.Refuse(toolproto.KindArgument, "base_oid is not a full object id")
	case r.Resume != "" && !oidRE.MatchString(r.Resume):
		return none, toolproto.Refuse(toolproto.KindArgument, "resume is not a full object id")
	case r.AuthorName == "" || r.AuthorEmail == "":
		return none, toolproto.Refuse(toolproto.KindArgument, "author_name and author_email are needed")
	}
	if !isPlainBranch(r.Branch) {
		if _, err := s.runGit(ctx, nil, "check-ref-format", "--branch", r.Branch); err != nil || strings.HasPrefix(r.Branch, "-") {
			return none, toolproto.Refuse(toolproto.KindArgument, "%q is not a branch name", r.Branch)
		}
	}
	if err := s.services.ensureRunning(ctx); err != nil {
		return none, err
	}
	if err := s.cloneRepo(ctx, r); err != nil {
		return none, asRefusal(err, "")
	}
	result, err := s.checkoutBranch(ctx, r)
	if err != nil {
		return none, asRefusal(err, "")
	}
	touched, err := makeReady(ctx, s.children, s.readyAt, s.dir, s.env)
	if err != nil {
		return none, fmt.Errorf("link the image's dependencies: %w", err)
	}
	s.repo.last, s.repo.lastOf = toolproto.CheckpointResult{Exact: true}, result.Head
	if result.Dirty || result.Exact {
		s.repo.last.OID, s.repo.lastOf = r.Resume, r.Resume
	}
	s.repo.head, s.repo.lastHead = result.Head, result.Head
	s.repo.origin, s.repo.pushed = r.CloneURL, map[string]string{}
	if r.Seeded != nil {
		maps.Copy(s.repo.pushed, r.Seeded.Refs)
	}
	s.processes.setHolder(r.Holder)
	if r.Signoff {
		s.repo.signoff = fmt.Sprintf("Signed-off-by: %s <%s>", r.AuthorName, r.AuthorEmail)
	}
	s.repo.branch = r.Branch
	fresh := standing{Branch: "refs/heads/" + r.Branch}
	if r.Resume != "" || touched || len(r.Paths) > 0 {
		s.repo.lastText, _, err = s.describeWorkspace(ctx)
	} else { // a checkout has nothing else
		s.repo.lastText, err = fresh.encodeText()
	}
	if err != nil {
		return none, asRefusal(err, "")
	}
	s.spare.wantAt(s.placeIn(s.dir))
	return result, nil
}

// cloneRepo makes the repository, and fetches what neither the image nor the host
// has put there.
func (s *Server) cloneRepo(ctx context.Context, r toolproto.PrepareRequest) error {
	if err := s.makeRepo(r); err != nil {
		return err
	}
	s.repo.identity.Store(&[]string{
		"GIT_AUTHOR_NAME=" + r.AuthorName, "GIT_AUTHOR_EMAIL=" + r.AuthorEmail,
		"GIT_COMMITTER_NAME=" + r.AuthorName, "GIT_COMMITTER_EMAIL=" + r.AuthorEmail,
	})
	if r.Seeded != nil && !r.Seeded.Fetch {
		return nil
	}
	_, err := s.runGit(ctx, nil, "fetch", "--quiet", "--no-tags", "origin",
		"+refs/heads/*:refs/remotes/origin/*", "+refs/company/*:refs/company/*")
	return err
}

// checkoutBranch puts the branch where work goes on: at a checkpoint's parent with
// the checkpoint's tree uncommitted on top; else at origin's branch; else at
// the base. A checkpoint that a pushed commit has overtaken is left aside.
func (s *Server) checkoutBranch(ctx context.Context, r toolproto.PrepareRequest) (toolproto.PrepareResult, error) {
	var none toolproto.PrepareResult
	base := string(r.BaseOID)
	if base == "" {
		base = r.BaseRef
		if name, ok := strings.CutPrefix(r.BaseRef, "refs/heads/"); ok {
			base = "refs/remotes/origin/" + name
		} else if !strings.HasPrefix(r.BaseRef, "refs/") {
			base = "refs/remotes/origin/" + r.BaseRef
		}
	}
	start := r.BaseOID
	if !s.isSeededOnly(r) {
		var err error
		if start, err = s.commitOf(ctx, base); err != nil {
			return none, notServedError(err, "the base", base)
		}
	}
	result := toolproto.PrepareResult{Branch: r.Branch}
	if len(r.Paths) > 0 {
		if err := s.forgetLaidTree(); err != nil {
			return none, err
		}
		if _, err := s.runGit(ctx, nil, append([]string{"sparse-checkout", "set", "--cone", "--end-of-options"}, r.Paths...)...); err != nil {
			return none, err
		}
	}
	switch {
	case r.Resume == "" && (r.Exact || s.isSeededOnly(r)):
		result.Head = start
		_, err := s.runGit(ctx, nil, "checkout", "--quiet", "--force", "--no-track", "-B", r.Branch, start)
		if gitRefused(err) {
			if _, missing := s.commitOf(ctx, start); gitRefused(missing) {
				err = notServedError(missing, "the base", base)
			}
		}
		return result, err
	case r.Exact:
		return s.restoreCheckpoint(ctx, r)
	}
	pushed, err := s.pushedOn(ctx, start, r.Branch)
	if err != nil {
		return none, err
	}
	if pushed != "" {
		start = pushed
	}
	// A checkpoint is never part of a branch. A commit of a branch is a plain
	// one: the answer of a checkpoint when nothing had changed yet.
	if r.Resume != "" {
		parent, overtaken, err := s.checkpointOn(ctx, r.Resume, start, pushed)
		if err != nil {
			return none, err
		}
		if overtaken {
			result.Note = "the branch has a commit that is newer than the checkpoint; work goes on from that commit"
		} else if parent != "" {
			start, result.Dirty = parent, true
		}
	}
	if _, err := s.runGit(ctx, nil, "checkout", "--quiet", "--force", "--no-track", "-B", r.Branch, string(start)); err != nil {
		return none, err
	}
	if result.Dirty {
		if err := s.layOut(ctx, r.Resume); err != nil {
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

// isSeededOnly reports whether the host has sent the whole clone and no push of the
// branch is in it: then nothing has to be looked for.
func (s *Server) isSeededOnly(r toolproto.PrepareRequest) bool {
	return r.Seeded != nil && !r.Seeded.Fetch && r.Resume == "" && r.BaseOID != "" && r.Seeded.Refs["refs/heads/"+r.Branch] == ""
}

// pushedOn is the head of origin's branch where that goes on from a start, ""
// where there is none that does.
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

// checkpointOn is the commit that a checkpoint was made on, "" where the start
// holds the checkpoint. overtaken: a pushed commit came after it.
func (s *Server) checkpointOn(ctx context.Context, checkpoint, start, pushed string) (parent string, overtaken bool, err error) {
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

// layOut makes the files those of a commit, on top of a HEAD that stays, with
// an index that stays HEAD's.
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
