package localfiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/lib/safedir"
)

// blobStore is blobs in a folder of a test.
type blobStore struct {
	*Blobs
	t   *testing.T
	dir string
}

func openStore(t *testing.T, dir string, size int64) *blobStore {
	t.Helper()
	own, err := safedir.Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenBlobs(own)
	if err != nil {
		t.Fatal(err)
	}
	b.packs.packSize = size
	t.Cleanup(func() { _ = errors.Join(b.Close(), own.Close()) })
	return &blobStore{b, t, dir}
}

// crashed is the blobs as they are after a kill: nothing was closed.
func (s *blobStore) crashed(size int64) *blobStore {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "bus")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		s.t.Fatal(err)
	}
	return openStore(s.t, dir, size)
}

// reopened is the blobs after an orderly end.
func (s *blobStore) reopened(size int64) *blobStore {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
	return openStore(s.t, s.dir, size)
}

func (s *blobStore) put(text string) string {
	s.t.Helper()
	name, size, err := s.Put(s.t.Context(), strings.NewReader(text))
	if err != nil || size != int64(len(text)) || name != nameOf(text) {
		s.t.Fatalf("put %q: %s, %d bytes, %v", text, name, size, err)
	}
	return name
}

func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *blobStore) get(name string) (string, error) {
	r, err := s.Get(s.t.Context(), name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

func (s *blobStore) requireTexts(when string, texts map[string]bool) {
	s.t.Helper()
	var want, got []string
	for text := range texts {
		want = append(want, nameOf(text))
		if read, err := s.get(nameOf(text)); read != text || err != nil {
			s.t.Fatalf("%s: %.40q, want %.40q: %v", when, read, text, err)
		}
	}
	slices.Sort(want)
	err := s.List(s.t.Context(), "", func(b bus.BlobInfo) error { got = append(got, b.Hash); return nil })
	if err != nil || !slices.Equal(got, want) {
		s.t.Fatalf("%s: %d blobs are listed, want %d: %v", when, len(got), len(want), err)
	}
}

func (s *blobStore) files(pattern string) []string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, blobsName, "packs", pattern))
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

func (s *blobStore) editFile(name string, edit func([]byte) []byte) {
	s.t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, edit(text), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// Small blobs share a file, a large one has its own, and all are found after an end of any
// kind.
func TestSmallBlobsShareAPack(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), packSize)
	texts := map[string]bool{"": true, strings.Repeat("x", maxPacked): true, strings.Repeat("y", maxPacked+1): true}
	for i := range 200 {
		texts[strings.Repeat(fmt.Sprint(i), i)] = true
	}
	var puts sync.WaitGroup
	for text := range texts {
		for range 2 {
			puts.Go(func() { s.put(text) })
		}
	}
	puts.Wait()
	s.requireTexts("at once", texts)
	if packs := s.files("*.pack"); len(packs) != 1 {
		t.Errorf("packs %v", packs)
	}
	s.crashed(packSize).requireTexts("after a kill", texts)
	again := s.reopened(packSize)
	again.requireTexts("after an orderly end", texts)
	again.put("one more")
	texts["one more"] = true
	again.reopened(packSize).requireTexts("after another", texts)
}

// What a power cut leaves of the last batch is not taken for a blob, wherever it was cut,
// and what was acknowledged before is there. What comes later is kept too.
func TestTornBatchOfAPack(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), packSize)
	texts := map[string]bool{}
	for i := range 5 {
		text := strings.Repeat(fmt.Sprint("first ", i), 20)
		s.put(text)
		texts[text] = true
	}
	pack := s.files("*.pack")[0]
	before, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	before = before[:len(before)-headSize] // its mark, whose place the next batch takes
	last := strings.Repeat("torn", 60)
	s.put(last)
	after, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	after = after[:len(after)-headSize] // a mark follows the sync alone
	for at := len(before); at <= len(after); at += 16 {
		for name, torn := range map[string][]byte{
			"cut":    after[:at],
			"zeroed": append(bytes.Clone(after[:at]), make([]byte, len(after)-at)...),
			"begun":  append(append(bytes.Clone(before), make([]byte, at-len(before))...), after[at:]...),
		} {
			when := fmt.Sprintf("%s at %d of %d", name, at-len(before), len(after)-len(before))
			s.editFile(pack, func([]byte) []byte { return torn })
			c := s.crashed(packSize)
			want := maps.Clone(texts)
			if text, err := c.get(nameOf(last)); err == nil {
				if text != last {
					t.Fatalf("%s: %q", when, text)
				}
				want[last] = true
			} else if !errors.Is(err, bus.ErrNotFound) {
				t.Fatalf("%s: %v", when, err)
			}
			c.requireTexts(when, want)
			c.put("behind it")
			c.put(last)
			want["behind it"], want[last] = true, true
			c.requireTexts(when+", later", want)
			c.crashed(packSize).requireTexts(when+", killed again", want)
			c.reopened(packSize).requireTexts(when+", ended", want)
		}
	}
}

// Bytes that were on the disk and are others now are damage, in the newest pack and in a
// full one, and hide no other blob.
func TestDamagedPacks(t *testing.T) {
	for name, size := range map[string]int64{"newest": packSize, "full": 64} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, filepath.Join(t.TempDir(), "bus"), size)
			for _, text := range []string{"first", "second", "third"} {
				s.put(text)
			}
			s = s.reopened(size)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			edit := func(from, to string) {
				for _, pack := range s.files("*.pack") {
					s.editFile(pack, func(text []byte) []byte { return bytes.Replace(text, []byte(from), []byte(to), 1) })
				}
			}
			edit("second", "sEcond")
			s = openStore(t, s.dir, size)
			if text, err := s.get(nameOf("second")); text != "sEcond" || !errors.Is(err, bus.ErrDamaged) {
				t.Errorf("damage reads as %q, %v", text, err)
			}
			for _, text := range []string{"first", "third"} {
				if read, err := s.get(nameOf(text)); read != text || err != nil {
					t.Errorf("beside it: %q, %v", read, err)
				}
			}
			// A head that is damaged hides its own blob alone.
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte("first"))
			edit(string(sum[:]), strings.Repeat("?", len(sum)))
			s = openStore(t, s.dir, size)
			if _, err := s.get(nameOf("first")); !errors.Is(err, bus.ErrDamaged) {
				t.Errorf("a blob without a head: %v", err)
			}
			if read, err := s.get(nameOf("third")); read != "third" || err != nil {
				t.Errorf("behind a damaged head: %q, %v", read, err)
			}
		})
	}
}

// An index that is missing or damaged is made again.
func TestIndexOfAPackIsMadeAgain(t *testing.T) {
	for name, edit := range map[string]func([]byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"cut":     func(b []byte) []byte { return b[:len(b)-5] },
		"flipped": func(b []byte) []byte { b[len(b)-6] ^= 1; return b },
	} {
		s := openStore(t, filepath.Join(t.TempDir(), "bus"), 1024)
		texts := map[string]bool{}
		for i := range 40 {
			text := strings.Repeat(fmt.Sprint(i), 40)
			s.put(text)
			texts[text] = true
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		indexes := s.files("*.index")
		if len(indexes) < 3 {
			t.Fatalf("indexes %v", indexes)
		}
		for i, index := range indexes {
			if i == 0 {
				if err := os.Remove(index); err != nil {
					t.Fatal(err)
				}
				continue
			}
			s.editFile(index, edit)
		}
		openStore(t, s.dir, 1024).requireTexts(name, texts)
	}
}

// A blob of a version before packs is read, listed once and removed, also where a pack has
// it as well.
func TestBlobsOfFilesAreRead(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), packSize)
	name := nameOf("old")
	file := filepath.Join(s.dir, blobsName, name[:2], name[2:])
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.requireTexts("a file", map[string]bool{"old": true})
	s.put("old")
	s.put("new")
	s.requireTexts("a file and packs", map[string]bool{"old": true, "new": true})
	early, late := time.Now().Add(-time.Minute), time.Now().Add(time.Minute)
	if err := os.Chtimes(file, early.Add(-time.Hour), early.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if removed, err := s.Remove(t.Context(), name, early); removed || err != nil {
		t.Errorf("the copy in the pack is recent: %v, %v", removed, err)
	}
	if removed, err := s.Remove(t.Context(), name, late); !removed || err != nil {
		t.Errorf("%v, %v", removed, err)
	}
	s.requireTexts("removed", map[string]bool{"new": true})
	s.reopened(packSize).requireTexts("removed, and opened again", map[string]bool{"new": true})
}

// The room of removed blobs is given back, and nothing else goes.
func TestRemovedBlobsLeaveRoom(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), 64<<10)
	texts := map[string]bool{}
	for i := range 300 {
		text := strings.Repeat(fmt.Sprintf("%06d ", i), 200)
		s.put(text)
		texts[text] = true
	}
	full := s.bytesOnDisk()
	late := time.Now().Add(time.Minute)
	for i := range 290 {
		text := strings.Repeat(fmt.Sprintf("%06d ", i), 200)
		if removed, err := s.Remove(t.Context(), nameOf(text), late); !removed || err != nil {
			t.Fatalf("remove %d: %v, %v", i, removed, err)
		}
		delete(texts, text)
	}
	s.requireTexts("removed", texts)
	if left := s.bytesOnDisk(); left > full/5 {
		t.Errorf("%d bytes are left of %d", left, full)
	}
	s.crashed(64<<10).requireTexts("after a kill", texts)
	s.reopened(64<<10).requireTexts("after an orderly end", texts)
}

func (s *blobStore) bytesOnDisk() (n int64) {
	s.t.Helper()
	for _, file := range s.files("*") {
		info, err := os.Stat(file)
		if err != nil {
			s.t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// A pack that a kill left beside the copies of its blobs is read and removed as one.
func TestKilledWhileAPackShrinks(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), 1024)
	texts := map[string]bool{}
	for i := range 20 {
		text := strings.Repeat(fmt.Sprint("text ", i), 20)
		s.put(text)
		texts[text] = true
	}
	first := s.files("*.pack")[0]
	aside, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	shrink := s.packs.full[0]
	s.packs.writing.Lock()
	err = s.packs.shrinkPack(shrink)
	s.packs.writing.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s.requireTexts("shrunk", texts)
	if err := os.WriteFile(first, aside, 0o600); err != nil {
		t.Fatal(err)
	}
	// Damage to the copy leaves the whole one.
	d := s.crashed(1024)
	d.requireTexts("with both", texts)
	packs := d.files("*.pack")
	for text := range texts {
		if bytes.Contains(aside, []byte(text)) {
			d.editFile(packs[len(packs)-1], func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte(text), bytes.ToUpper([]byte(text)))
			})
		}
	}
	d.requireTexts("a damaged copy", texts)
	// A write that was cut off leaves no file for ever.
	torn := filepath.Join(filepath.Dir(first), ".00000001.index.0123456789abcdef")
	if err := os.WriteFile(torn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := s.crashed(1024)
	c.requireTexts("with both", texts)
	if left := c.files(".*"); len(left) > 0 {
		t.Errorf("%v", left)
	}
	for text := range texts {
		if removed, err := c.Remove(t.Context(), nameOf(text), time.Now().Add(time.Minute)); !removed || err != nil {
			t.Fatalf("%v, %v", removed, err)
		}
	}
	c.requireTexts("removed", nil)
	c.reopened(1024).requireTexts("removed, and opened again", nil)
}

// TestPackThatCannotBeWritten: a failed write fails its batch alone. Earlier blobs stay, and
// the next ones begin another pack.
func TestPackThatCannotBeWritten(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), packSize)
	s.put("before")
	s.packs.mu.Lock()
	was := s.packs.newest.file
	readOnly, err := os.Open(s.files("*.pack")[0])
	s.packs.newest.file = plainFile{readOnly}
	s.packs.mu.Unlock()
	if err := errors.Join(err, was.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(t.Context(), strings.NewReader("lost")); err == nil {
		t.Fatal("a blob was put that is nowhere")
	}
	s.requireTexts("after the failure", map[string]bool{"before": true})
	s.put("after")
	want := map[string]bool{"before": true, "after": true}
	s.requireTexts("later", want)
	s.crashed(packSize).requireTexts("after a kill", want)
	s.reopened(packSize).requireTexts("after an orderly end", want)
}

// Puts and removals in any order, with kills and orderly ends, agree with a map.
func TestRandomPuts(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 173))
		const size = 4 << 10
		s := openStore(t, filepath.Join(t.TempDir(), "bus"), size)
		texts := map[string]bool{}
		for step := range 400 {
			text := strings.Repeat(fmt.Sprint("text ", rng.IntN(60), " "), 1+rng.IntN(2)*30)
			switch n := rng.IntN(100); {
			case n < 55:
				s.put(text)
				texts[text] = true
			case n < 97:
				removed, err := s.Remove(t.Context(), nameOf(text), time.Now().Add(time.Minute))
				if removed != texts[text] || err != nil {
					t.Fatalf("seed %d, step %d: removed %v of %v: %v", seed, step, removed, texts[text], err)
				}
				delete(texts, text)
			case n < 98:
				s = s.crashed(size)
			default:
				s = s.reopened(size)
			}
			if step%20 == 0 {
				s.requireTexts(fmt.Sprintf("seed %d, step %d", seed, step), texts)
			}
		}
	}
}

// A blob that is put while others are removed and packs shrink is there after its Put.
func TestPutsBesideRemovals(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), 2<<10)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 100 {
				text := strings.Repeat(fmt.Sprint("text ", (w+i)%12), 10)
				before := time.Now()
				s.put(text)
				if w%2 == 0 {
					if _, err := s.Remove(t.Context(), nameOf(text), before.Add(-time.Millisecond)); err != nil {
						t.Error(err)
					}
				}
				if read, err := s.get(nameOf(text)); read != text || err != nil {
					t.Errorf("%q, %v", read, err)
				}
			}
		})
	}
	workers.Wait()
}

// A closed store takes no blob.
func TestClosedBlobs(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"), packSize)
	name := s.put("x")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, putErr := s.Put(t.Context(), strings.NewReader("y"))
	_, getErr := s.get(name)
	if !errors.Is(putErr, bus.ErrClosed) || !errors.Is(getErr, bus.ErrClosed) {
		t.Errorf("%v, %v", putErr, getErr)
	}
}
