package toolserver

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"company/internal/toolbox/toolproto"
)

// handleHome sends the files below folders of the home folder, as a compressed tar. Links, pipes and what is not there
// are left out.
func (s *Server) handleHome(w http.ResponseWriter, r *http.Request) {
	request, err := readRequest[toolproto.HomeRequest](w, r, "home")
	var packed []byte
	if err == nil {
		packed, err = s.packHome(request.Folders)
	}
	if err != nil {
		writeAnswer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	_, _ = w.Write(packed) // the host may be gone
}

// openHome opens the home folder of commands.
func (s *Server) openHome() (*os.Root, error) {
	root, err := os.OpenRoot(lookupVar(s.env, "HOME"))
	if err != nil {
		return nil, fmt.Errorf("open the home folder: %w", err)
	}
	return root, nil
}

// entrySize is about what an entry of a tar takes besides its data.
const entrySize = 1 << 10

func (s *Server) packHome(folders []string) ([]byte, error) {
	root, err := s.openHome()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	size := 0
	for _, folder := range folders {
		err := fs.WalkDir(root.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil // a folder's files come by themselves
			}
			data, err := readRegular(root, name, max(0, toolproto.MaxHome-size))
			if size += len(data) + entrySize; err != nil || size > toolproto.MaxHome {
				return cmp.Or(err, error(toolproto.Refuse(toolproto.KindTooLarge,
					"%s holds more than %d bytes", folder, toolproto.MaxHome)))
			}
			if data == nil {
				return nil
			}
			header := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}
			if err := archive.WriteHeader(header); err != nil {
				return err
			}
			_, err = archive.Write(data)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), zipped.Close())
	return packed.Bytes(), err
}

// readRegular reads at most limit bytes of a file and one more. It returns nil for what is no file any more.
func readRegular(root *os.Root, name string, limit int) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}

// unpackHome writes the files of a compressed tar below the home folder. It refuses everything but files.
func (s *Server) unpackHome(packed []byte) error {
	root, err := s.openHome()
	if err != nil {
		return err
	}
	defer root.Close()
	refuse := func(format string, args ...any) error {
		return toolproto.Refuse(toolproto.KindArgument, "the files of a home folder: "+format, args...)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return refuse("%v", err)
	}
	limited := io.LimitReader(unzipped, 2*toolproto.MaxHome) // with the headers
	for archive := tar.NewReader(limited); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refuse("%v", err)
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) {
			return refuse("%q is not a file below it", header.Name)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return refuse("%v", err)
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o700); err != nil {
			return refuse("%v", err)
		}
		if err := root.WriteFile(header.Name, data, 0o600); err != nil {
			return refuse("%v", err)
		}
	}
}
