package python

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"company/internal/ecosystem"
)

// A name is cut at each of its dashes: one of a megabyte took hours.
func TestLongFileNames(t *testing.T) {
	began := time.Now()
	if got := versionOfFile("x", strings.Repeat("-", 1<<20)+"1.0.zip"); got != "" {
		t.Error(got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if got := versionOfFile("x", "x-1.0"+strings.Repeat("0", 200)+".zip"); !strings.HasPrefix(got, "1.0") {
		t.Error(got)
	}
}

// wheelFile is a cache with one wheel in it.
type wheelFile []byte

func (wheelFile) Upstream() ecosystem.Upstream { return ecosystem.Upstream{} }

func (wheelFile) Read(context.Context, ecosystem.Fetch) ([]byte, string, error) {
	return nil, "", ecosystem.ErrNotFound
}

func (w wheelFile) Get(context.Context, ecosystem.Fetch) (ecosystem.Cached, error) { return w, nil }

func (w wheelFile) ReadAt(use func(content io.ReaderAt, size int64) error) error {
	return use(bytes.NewReader(w), int64(len(w)))
}

// A wheel may list millions of empty files, each of which takes memory.
func TestWheelOfManyFiles(t *testing.T) {
	wheel := func(files int) wheelFile {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i := range files {
			if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("x/%040d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		f, err := w.Create("x-1.0.dist-info/METADATA")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "Name: x\nRequires-Dist: y\n\n"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	file := indexFile{Filename: "x-1.0-py3-none-any.whl", URL: "https://example.com/x-1.0-py3-none-any.whl"}
	if needs, err := wheelDependencies(t.Context(), wheel(20_000), file); err != nil || len(needs) != 1 {
		t.Errorf("%v, %v", needs, err)
	}
	hostile := wheel(300_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := wheelDependencies(t.Context(), hostile, file)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errWheelTooLarge) {
		t.Errorf("it was read: %v, %d MiB", err, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}
