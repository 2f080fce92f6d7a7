package toolserver

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"company/internal/toolbox/toolproto"
)

// handleAttach stores the files of the instruction beside the workspace. They can be read and copied, but the
// workspace's tools do not change them.
func (s *Server) handleAttach(w http.ResponseWriter, r *http.Request) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	err := storeAttached(filepath.Join(filepath.Dir(s.dir), path.Base(toolproto.AttachedFolder)), r.Body)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	writeAnswer(w, toolproto.Empty{}, err)
}

func storeAttached(folder string, from io.Reader) (err error) {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder of the instruction's files: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open the folder of the instruction's files: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return os.Chmod(folder, 0o555)
		}
		if err != nil {
			return fmt.Errorf("read the instruction's files: %w", err)
		}
		if header.Typeflag != tar.TypeReg || strings.Contains(header.Name, "/") || !filepath.IsLocal(header.Name) {
			return toolproto.Refuse(toolproto.KindArgument, "%q is not a file of an instruction", header.Name)
		}
		file, err := root.OpenFile(header.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
		if err != nil {
			return fmt.Errorf("store a file of the instruction: %w", err)
		}
		_, err = io.Copy(file, archive)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("store a file of the instruction: %w", err)
		}
	}
}
