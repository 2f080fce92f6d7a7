package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/toolbox/toolproto"
)

// restoreCheckpoint restores the workspace as it was at a checkpoint.
func (s *Server) restoreCheckpoint(
	ctx context.Context, request toolproto.PrepareRequest,
) (toolproto.PrepareResult, error) {
	var none toolproto.PrepareResult
	message, err := s.runGit(ctx, nil, "show", "--no-patch", "--format=%B", request.Resume)
	if err != nil {
		return none, notServedError(err, "the checkpoint", request.Resume)
	}
	var at standing
	if parts := strings.SplitN(message, "\n\n", 3); len(parts) < 2 || json.Unmarshal([]byte(parts[1]), &at) != nil {
		return none, toolproto.Refuse(toolproto.KindGit, "%s is not a checkpoint", request.Resume)
	}
	head, err := s.commitOf(ctx, request.Resume+"^1")
	if err != nil {
		return none, notServedError(err, "the checkpoint", request.Resume)
	}
	if _, err := s.runGit(ctx, nil, "checkout", "--quiet", "--force", "--no-track", "-B", request.Branch,
		head); err != nil {
		return none, err
	}
	if err := s.layOut(ctx, request.Resume); err != nil {
		return none, err
	}
	for _, step := range []func() error{
		func() error { return s.restoreRefs(ctx, &at, "refs/heads/"+request.Branch, head) },
		func() error { return s.restoreIndex(ctx, at.Index) },
		func() error { return s.restoreMerge(at.Merge) },
	} {
		if err := step(); err != nil {
			return none, err
		}
	}
	for _, dir := range at.Empty {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return none, fmt.Errorf("make the empty folder %q: %w", dir, err)
		}
	}
	status, err := s.runGit(ctx, nil, "status", "--porcelain=v1")
	return toolproto.PrepareResult{Branch: request.Branch, Head: head, Dirty: status != "", Exact: true}, err
}

func (s *Server) restoreRefs(ctx context.Context, at *standing, branch, head string) error {
	for name, oid := range at.Refs {
		if name == branch {
			continue
		}
		if _, err := s.runGit(ctx, nil, "update-ref", name, oid); err != nil {
			return err
		}
	}
	for i := len(at.Stash) - 1; i >= 0; i-- {
		if _, err := s.runGit(ctx, nil, "stash", "store", "--quiet", "--message", at.Stash[i].Message,
			at.Stash[i].OID); err != nil {
			return err
		}
	}
	if at.Branch == branch {
		return nil
	}
	// HEAD leaves the branch, and the branch gets its earlier value.
	var err error
	if at.Branch == "" {
		_, err = s.runGit(ctx, nil, "checkout", "--quiet", "--detach", "HEAD")
	} else if _, err = s.runGit(ctx, nil, "update-ref", at.Branch, head); err == nil {
		_, err = s.runGit(ctx, nil, "symbolic-ref", "HEAD", at.Branch)
	}
	if err != nil {
		return err
	}
	if oid, ok := at.Refs[branch]; ok {
		_, err = s.runGit(ctx, nil, "update-ref", branch, oid)
	} else {
		_, err = s.runGit(ctx, nil, "update-ref", "-d", branch)
	}
	return err
}

func (s *Server) restoreIndex(ctx context.Context, entries []string) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := s.runGit(ctx, &gitRun{stdin: strings.Join(entries, "\x00") + "\x00"}, "update-index", "-z", "--index-info")
	return err
}

func (s *Server) restoreMerge(m *merging) error {
	if m == nil {
		return nil
	}
	var errs []error
	for name, text := range map[string]string{"MERGE_HEAD": m.Head + "\n", "MERGE_MSG": m.Message, "MERGE_MODE": m.Mode} {
		errs = append(errs, os.WriteFile(filepath.Join(s.dir, ".git", name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}
