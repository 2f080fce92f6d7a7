package python

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/boundedparse/parsetest"
)

// A name is cut at each of its dashes: one of a megabyte took hours.
func TestLongFileNames(t *testing.T) {
	if got := versionOfFile("x", strings.Repeat("-", 1<<20)+"1.0.zip"); got != "" {
		t.Error(got)
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

// A value of tox.ini may hold a hundred references to a value of a hundred references, and so on: a
// file of 4 KB came to ten thousand million lines.
func TestReferencesOfReferences(t *testing.T) {
	text := "[testenv]\ndeps =\n" + strings.Repeat("  {[a]k}\n", 20)
	for _, name := range []string{"ab", "bc"} {
		text += "[" + name[:1] + "]\nk =\n" + strings.Repeat("  {["+name[1:]+"]k}\n", 20)
	}
	text += "[c]\nk =\n" + strings.Repeat("  pytest\n", 20)
	if lines := readToxFile(text).wish.lines; len(lines) == 0 || len(lines) > 20_000 {
		t.Errorf("%d lines", len(lines))
	}
}

// A value of many lines is put together in time of its size.
func TestLongValuesOfINI(t *testing.T) {
	var f iniFile
	_, allocated := parsetest.Measure(
		func() { f, _ = readINI("[options]\ninstall_requires =\n" + strings.Repeat("  a\n", 20_000)) })
	if lines := splitLines(f["options"]["install_requires"]); len(lines) != 20_000 || allocated > 4*parsetest.MiB {
		t.Errorf("%d lines, %d MiB allocated", len(lines), allocated/parsetest.MiB)
	}
}

// Lock files and manifests name packages in numbers that nothing needs: each is compared with others.
func TestNumbersOfPackages(t *testing.T) {
	lock := &lockFile{packages: map[string][]*lockedPackage{}}
	for i := range 1000 {
		lock.addPackage(&lockedPackage{name: "a", version: fmt.Sprint(i)})
	}
	if n := len(lock.packages["a"]); n > 100 {
		t.Errorf("%d versions of a package", n)
	}
	p := lockedPackage{name: "a", version: "1", hashes: slices.Repeat([]string{"sha256:" + strings.Repeat("0", 64)}, 5000)}
	if _, allocated := parsetest.Measure(func() { p.formatPin() }); allocated > 8*parsetest.MiB {
		t.Errorf("%d MiB for a pin of 5,000 digests", allocated/parsetest.MiB)
	}
	s := &ecosystemtest.Sources{Texts: map[string]string{"setup.cfg": "[options]\ninstall_requires =\n"}}
	for i := range 6000 {
		s.Texts["setup.cfg"] += fmt.Sprintf("  a%d\n", i)
	}
	project, err := readManifests(s, ".")
	if err != nil || len(project.lines) > 5000 || len(s.Notes) != 1 ||
		!strings.Contains(s.Notes[0], "1000 more packages") {
		t.Errorf("%d lines, %q, %v", len(project.lines), s.Notes, err)
	}
}

// TestNamesOfDashes: a list of files whose names are nothing but dashes costs no more than its size.
func TestNamesOfDashes(t *testing.T) {
	name := "a" + strings.Repeat("-", 200) + ".zip"
	for range 10_000 {
		if got := versionOfFile("a", name); got != "" && got[0] != '-' {
			t.Fatalf("the version %q", got)
		}
	}
	for spelling, want := range map[string]string{"A.b_C--d": "a-b-c-d", "-a": "-a", "a": "a", "a._-b": "a-b"} {
		if got := canonicalName(spelling); got != want {
			t.Errorf("%s is %s, want %s", spelling, got, want)
		}
	}
}
