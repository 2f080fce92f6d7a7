package toolserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"company/internal/toolproto"
)

// layBakedTree makes the work tree of the history that the image brought along, before it
// is known which run will have it: Prepare then changes the files that differ. Where git
// cannot make it, the workspace is left empty.
func (s *Server) layBakedTree(ctx context.Context, r toolproto.BakedRequest) (toolproto.BakedResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.BakedResult
	if s.repo.branch != "" {
		return none, toolproto.Refuse(toolproto.KindArgument, "the workspace is prepared already, for %s", s.repo.branch)
	}
	baked, err := s.nameBaked(ctx, r)
	if err != nil || baked.Commit == "" {
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, toolproto.LayOutTimeout)
	defer cancel()
	err = s.makeRepo(toolproto.PrepareRequest{Baked: r.Path, Branch: "none"}) // Prepare writes these files anew
	if err == nil {
		_, err = s.runGit(ctx, nil, "read-tree", "--reset", "-u", baked.Commit)
	}
	if err == nil {
		err = s.dateIndexOn()
	}
	if err == nil {
		return baked, nil
	}
	if cerr := s.removeFiles(""); cerr != nil {
		return none, errors.Join(err, cerr)
	}
	return none, toolproto.Refuse(toolproto.KindGit, "the tree of %s is not laid out: %v", baked.Commit, err)
}

// dateIndexOn dates the index later than the files that it has. git compares the contents of
// files of the second in which the index was written, which here are all; nothing changes them
// before Prepare, whose checkout writes an index with the time of its own. (Documentation/technical/racy-git.txt)
func (s *Server) dateIndexOn() error {
	later := time.Now().Add(2 * time.Second)
	if err := s.root.Chtimes(".git/index", later, later); err != nil {
		return fmt.Errorf("date the index: %w", err)
	}
	return nil
}

// forgetLaidTree leaves of a tree that was laid out the repository alone, for a clone in which
// a part of the tree is checked out: its folders may be no folders in what was laid out.
func (s *Server) forgetLaidTree() error {
	if err := s.root.Remove(".git/index"); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("empty the workspace: %w", err)
	}
	return s.removeFiles(".git")
}

// removeFiles empties the workspace. It keeps one name.
func (s *Server) removeFiles(but string) error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	for _, e := range entries {
		if e.Name() != but {
			err = errors.Join(err, s.root.RemoveAll(e.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("empty the workspace: %w", err)
	}
	return nil
}
