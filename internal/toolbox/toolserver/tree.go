package toolserver

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
)

// handleTree sends the workspace as a tar. An error after the start cuts the response off, which the host detects.
func (s *Server) handleTree(w http.ResponseWriter, _ *http.Request) {
	// A process that hides its origin cannot be found in another way, and could change the tree while it is read.
	s.children.endEverything()
	w.Header().Set("Content-Type", "application/x-tar")
	to := bufio.NewWriterSize(w, 128<<10)
	t := treeWriter{Writer: tar.NewWriter(to), names: map[inode]string{}}
	err := errors.Join(t.writeFolder(s.dir, ""), t.Close(), to.Flush())
	if err != nil {
		fmt.Fprintln(os.Stderr, "the workspace cannot be sent:", err)
		panic(http.ErrAbortHandler)
	}
}

// treeWriter writes folders and their entries, sorted by name.
type treeWriter struct {
	*tar.Writer
	names map[inode]string // for files with several hard links: the first name
}

type inode struct{ device, number uint64 }

func (t *treeWriter) writeFolder(dir, below string) error {
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		at, name := filepath.Join(dir, entry.Name()), below+entry.Name()
		if err := t.writeEntry(at, name, info); err != nil {
			return err
		}
		if info.IsDir() {
			if err := t.writeFolder(at, name+"/"); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeEntry writes a file, folder or link. It skips pipes and other special files.
func (t *treeWriter) writeEntry(at, name string, info fs.FileInfo) error {
	header := &tar.Header{Name: name, Mode: int64(info.Mode().Perm())}
	switch {
	case info.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
		return t.WriteHeader(header)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(at)
		if err != nil {
			return err
		}
		header.Typeflag, header.Linkname = tar.TypeSymlink, to
		return t.WriteHeader(header)
	case !info.Mode().IsRegular():
		return nil
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		id := inode{uint64(st.Dev), st.Ino} // its size differs by system
		if first, seen := t.names[id]; seen {
			header.Typeflag, header.Linkname = tar.TypeLink, first
			return t.WriteHeader(header)
		}
		t.names[id] = name
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := t.WriteHeader(header); err != nil || header.Size == 0 {
		return err
	}
	file, err := openOwn(at, info)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.CopyN(t, file, header.Size)
	return err
}

// readDir lists a folder that we own, regardless of its mode.
func readDir(dir string) ([]os.DirEntry, error) {
	const lookInto = 0o500
	info, err := os.Lstat(dir)
	if err == nil && info.Mode().Perm()&lookInto != lookInto {
		err = os.Chmod(dir, info.Mode().Perm()|lookInto)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadDir(dir)
}

// openOwn opens a file that we own, regardless of its mode.
func openOwn(at string, info fs.FileInfo) (*os.File, error) {
	file, err := os.Open(at)
	if errors.Is(err, fs.ErrPermission) && os.Chmod(at, info.Mode().Perm()|0o400) == nil {
		file, err = os.Open(at)
	}
	return file, err
}
