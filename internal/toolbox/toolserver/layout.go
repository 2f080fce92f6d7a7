package toolserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"company/internal/toolbox/toolproto"
)

// layBakedTree checks out the work tree of the history in the image before a run is assigned. Prepare then only
// changes the files that differ. If git fails, the workspace is left empty.
func (s *Server) layBakedTree(ctx context.Context, bakedRequest toolproto.BakedRequest) (toolproto.BakedResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.BakedResult
	if s.repo.branch != "" {
		return none, toolproto.Refuse(toolproto.KindArgument, "the workspace is prepared already, for %s", s.repo.branch)
	}
	baked, err := s.nameBaked(ctx, bakedRequest)
	if err != nil || baked.Commit == "" {
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, toolproto.LayOutTimeout)
	defer cancel()
	err = s.makeRepo(toolproto.PrepareRequest{Baked: bakedRequest.Path, Branch: "none"}) // Prepare rewrites these files
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

// dateIndexOn dates the index later than its files. Otherwise git would compare the contents of all files, because
// they were changed in the same second as the index. No process changes the files before Prepare, whose checkout
// writes a new index. (Documentation/technical/racy-git.txt)
func (s *Server) dateIndexOn() error {
	later := time.Now().Add(2 * time.Second)
	if err := s.root.Chtimes(".git/index", later, later); err != nil {
		return fmt.Errorf("date the index: %w", err)
	}
	return nil
}

// forgetLaidTree deletes the prepared work tree and keeps .git. It is for a sparse checkout, whose folders may
// conflict with files of the prepared tree.
func (s *Server) forgetLaidTree() error {
	if err := s.root.Remove(".git/index"); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("empty the workspace: %w", err)
	}
	return s.removeFiles(".git")
}

// removeFiles empties the workspace, except for one name.
func (s *Server) removeFiles(but string) error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	for _, entry := range entries {
		if entry.Name() != but {
			err = errors.Join(err, s.root.RemoveAll(entry.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("empty the workspace: %w", err)
	}
	return nil
}
