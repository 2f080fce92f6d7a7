package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packEntries is a .tar.gz of these entries. One that claims a size of gigabytes is the last: what it
// claims is not there.
func packEntries(t *testing.T, entries ...tar.Header) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, h := range entries {
		h.Mode |= 0o4777
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 && h.Size < 100 {
			if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

// A package's archive writes regular files below its folder and nothing else, and what is passed over
// counts, too: it is read.
func TestHostilePackages(t *testing.T) {
	const tooLarge = "a package is too large, or has a path outside of its folder"
	file := tar.Header{Typeflag: tar.TypeReg, Name: "package/a/b", Size: 1}
	for name, c := range map[string]struct {
		entries []tar.Header
		want    string // in the error
	}{
		"links": {[]tar.Header{
			{Typeflag: tar.TypeSymlink, Name: "package/a", Linkname: "/tmp"},
			{Typeflag: tar.TypeLink, Name: "package/c", Linkname: "/etc/passwd"}, file}, ""},
		"devices and pipes": {[]tar.Header{
			{Typeflag: tar.TypeChar, Name: "package/null", Devmajor: 1, Devminor: 3},
			{Typeflag: tar.TypeFifo, Name: "package/pipe"}, file}, ""},
		"upwards": {[]tar.Header{{Typeflag: tar.TypeReg, Name: "package/../../../x", Size: 1}},
			tooLarge},
		"a name twice": {[]tar.Header{file, file}, "file exists"},
		"a large file at the top, passed over": {[]tar.Header{file, {Typeflag: tar.TypeReg, Name: "top", Size: maxDeps}},
			tooLarge},
		"a large file": {[]tar.Header{file, {Typeflag: tar.TypeReg, Name: "package/x", Size: maxDeps}}, tooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			err := unpackArchive(packEntries(t, c.entries...), dir)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			var found []string
			walkErr := filepath.WalkDir(filepath.Dir(dir), func(p string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					found = append(found, strings.TrimPrefix(p, dir+"/"))
					if info, err := os.Lstat(p); err != nil || info.Mode() != 0o700 {
						t.Errorf("%s: %v, %v", p, info.Mode(), err)
					}
				}
				return err
			})
			if len(found) > 1 || len(found) == 1 && found[0] != "a/b" || walkErr != nil {
				t.Errorf("written: %q, %v", found, walkErr)
			}
		})
	}
}
