package toolserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"company/internal/toolbox/toolproto"
)

type digest = [sha256.Size]byte

// refuseFS turns an error of the file system into a Refusal if the model caused it. It returns other errors unchanged.
func (s *Server) refuseFS(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return toolproto.Refuse(toolproto.KindNotFound, "%s does not exist%s", path, s.suggestPath(path))
	case errors.Is(err, fs.ErrPermission):
		return toolproto.Refuse(toolproto.KindDenied, "%s: permission denied", path)
	case strings.Contains(err.Error(), "escapes from parent"):
		return outsideError(path)
	}
	// Not a directory, is a directory, no space, name too long: show all of these to the model.
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return toolproto.Refuse(toolproto.KindArgument, "%s: %v", path, pe.Err)
	}
	return err
}

// similarNames suggests up to three files with a name similar to path.
func (s *Server) similarNames(path string) string {
	return toolproto.SuggestPaths(path, func(yield func(string) bool) {
		_ = filepath.WalkDir(s.dir, func(p string, entry fs.DirEntry, err error) error {
			switch rel, rerr := filepath.Rel(s.dir, p); {
			case err != nil || rerr != nil:
				return fs.SkipAll
			case entry.IsDir():
				if entry.Name() == ".git" || entry.Name() == "node_modules" {
					return fs.SkipDir
				}
			case !yield(rel):
				return fs.SkipAll
			}
			return nil
		})
	})
}

// load reads a regular file of limited size.
func (s *Server) load(shown, rel string) ([]byte, fs.FileInfo, error) {
	// O_NONBLOCK keeps a named pipe from blocking the tool.
	file, err := s.root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, s.refuseFS(shown, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, s.refuseFS(shown, err)
	}
	if info.IsDir() {
		return nil, nil, toolproto.Refuse(
			toolproto.KindArgument, "%s is a folder; use list_files with a glob like %s/**", shown, rel)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, toolproto.Refuse(toolproto.KindArgument, "%s is not a regular file", shown)
	}
	if info.Size() > toolproto.MaxFile {
		return nil, nil, tooLarge(shown, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(file, toolproto.MaxFile+1))
	if err != nil {
		return nil, nil, s.refuseFS(shown, err)
	}
	if len(data) > toolproto.MaxFile {
		return nil, nil, tooLarge(shown, int64(len(data)))
	}
	return data, info, nil
}

func tooLarge(path string, size int64) error {
	return toolproto.Refuse(toolproto.KindTooLarge,
		"%s has %d bytes; the limit is %d; look at parts of it with run_command (head, sed -n)", path, size,
		toolproto.MaxFile)
}

// markKnown records that the agent has seen or written this content, and returns its digest.
func (s *Server) markKnown(rel string, data []byte) string {
	sum := sha256.Sum256(data)
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	s.seen[rel] = sum
	return hex.EncodeToString(sum[:])
}

// forgetKnown records that the agent does not know the content of the file.
func (s *Server) forgetKnown(rel string) {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	delete(s.seen, rel)
}

// recallKnown restores the digests that the agent knew in an earlier container.
func (s *Server) recallKnown(_ context.Context, request toolproto.RecallRequest) (toolproto.Empty, error) {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	for path, text := range request.Known {
		var sum digest
		if n, err := hex.Decode(sum[:], []byte(text)); err != nil || n != len(sum) {
			return toolproto.Empty{}, toolproto.Refuse(toolproto.KindArgument, "%q is not a digest", text)
		}
		s.seen[path] = sum
	}
	return toolproto.Empty{}, nil
}

// checkSeen refuses to replace a file whose current content the agent has not seen, because that could undo changes
// unknown to it.
func (s *Server) checkSeen(shown, rel string, data []byte) error {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	seen, ok := s.seen[rel]
	switch {
	case !ok:
		return toolproto.Refuse(toolproto.KindStale, "%s was not read yet; use read_file first", shown)
	case seen != sha256.Sum256(data):
		return toolproto.Refuse(toolproto.KindStale, "%s has changed since it was read; use read_file again", shown)
	}
	return nil
}

// storeFile replaces a file atomically, with the given mode. It returns the digest of the new content.
func (s *Server) storeFile(shown, rel string, data []byte, mode fs.FileMode) (digest string, err error) {
	if dir := filepath.Dir(rel); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return "", s.refuseFS(shown, err)
		}
	}
	temp := filepath.Join(filepath.Dir(rel), fmt.Sprintf(".toolbox-%s.tmp", randomName()))
	file, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", s.refuseFS(shown, err)
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Chmod(mode.Perm())
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = s.root.Rename(temp, rel)
	}
	if err != nil {
		_ = s.root.Remove(temp)
		return "", s.refuseFS(shown, err)
	}
	s.markWritten(rel)
	return s.markKnown(rel, data), nil
}
