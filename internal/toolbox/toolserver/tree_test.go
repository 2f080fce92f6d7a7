package toolserver

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/toolbox/mux/muxtest"
	"company/internal/toolbox/toolproto"
)

// The workspace is sent whole and in one order: files, folders, links, and second names
// of files; modes and contents as they are.
func TestReadTree(t *testing.T) {
	b := newBench(t)
	b.file(t, "b/run.sh", "#!/bin/sh\n")
	b.file(t, "a.txt", "one")
	b.file(t, ".gitignore", "b\n")
	b.file(t, "locked/x", "two")
	long := strings.Repeat("d", 120) + "/" + strings.Repeat("é", 60)
	b.file(t, long, "")
	b.file(t, "shut/y", "three")
	for _, do := range []error{
		os.Chmod(filepath.Join(b.dir, "b/run.sh"), 0o755), os.Chmod(filepath.Join(b.dir, "locked/x"), 0),
		os.Chmod(filepath.Join(b.dir, "locked"), 0o500),
		os.Chmod(filepath.Join(b.dir, "shut"), 0o600),
		os.Symlink("../a.txt", filepath.Join(b.dir, "b/link")),
		os.Link(filepath.Join(b.dir, "a.txt"), filepath.Join(b.dir, "c.txt")),
	} {
		if do != nil {
			t.Fatal(do)
		}
	}
	var got []string
	err := b.ReadTree(t.Context(), func(r io.Reader) error {
		for archive := tar.NewReader(r); ; {
			h, err := archive.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			text, err := io.ReadAll(archive)
			if err != nil {
				return err
			}
			got = append(got, fmt.Sprintf("%s %c %o %s%s", h.Name, h.Typeflag, h.Mode, h.Linkname, text))
		}
	})
	dir, _, _ := strings.Cut(long, "/")
	want := []string{
		".gitignore 0 644 b\n", "a.txt 0 644 one", "b/ 5 755 ", "b/link 2 777 ../a.txt", "b/run.sh 0 755 #!/bin/sh\n",
		"c.txt 1 644 a.txt",
		dir + "/ 5 755 ", long + " 0 644 ", "locked/ 5 500 ", "locked/x 0 0 two", "shut/ 5 600 ", "shut/y 0 644 three",
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v:\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A tree that is cut off is not a whole tree, though its archive may end between two
// files; an error of the reader comes back as it is.
func TestReadTreeCutOff(t *testing.T) {
	client := toolproto.New(muxtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		archive := tar.NewWriter(w)
		_ = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "a/", Mode: 0o755})
		_ = archive.Flush()
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})))
	t.Cleanup(client.Close)
	var broken *toolproto.Broken
	err := client.ReadTree(t.Context(), func(r io.Reader) error {
		if h, err := tar.NewReader(r).Next(); err != nil || h.Name != "a/" {
			t.Errorf("%+v, %v", h, err)
		}
		return nil
	})
	if !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
	own := errors.New("not wanted")
	if err := client.ReadTree(t.Context(), func(io.Reader) error { return own }); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
}
