package localfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

func openStore(t *testing.T, dir string) *blobStore {
	t.Helper()
	own, err := safedir.Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenBlobs(own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(b.Close(), own.Close()) })
	return &blobStore{b, t, dir}
}

// crashed is the blobs as they are after a kill: nothing was closed.
func (s *blobStore) crashed() *blobStore {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "bus")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		s.t.Fatal(err)
	}
	return openStore(s.t, dir)
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

// unfinished lists the temporary files of interrupted puts.
func (s *blobStore) unfinished() []string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, tmpName, "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

// Puts and removals in any order, with kills, agree with a map.
func TestRandomPuts(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 173))
		s := openStore(t, filepath.Join(t.TempDir(), "bus"))
		texts := map[string]bool{}
		for step := range 200 {
			text := strings.Repeat(fmt.Sprint("text ", rng.IntN(60), " "), 1+rng.IntN(2)*30)
			switch n := rng.IntN(100); {
			case n < 55:
				s.put(text)
				texts[text] = true
			case n < 98:
				removed, err := s.Remove(t.Context(), nameOf(text), time.Now().Add(time.Minute))
				if removed != texts[text] || err != nil {
					t.Fatalf("seed %d, step %d: removed %v of %v: %v", seed, step, removed, texts[text], err)
				}
				delete(texts, text)
			default:
				s = s.crashed()
			}
			if step%20 == 0 {
				s.requireTexts(fmt.Sprintf("seed %d, step %d", seed, step), texts)
			}
		}
	}
}

// Any bit of a blob that has changed, and a blob that is shorter or longer, is told at its end.
func TestChangedBlobIsDamaged(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"))
	const text = "what was written"
	name := s.put(text)
	file := filepath.Join(s.dir, blobsName, name[:2], name[2:])
	changed := []string{"", text[:len(text)-1], text + "\x00"}
	for bit := range 8 * len(text) {
		flipped := []byte(text)
		flipped[bit/8] ^= 1 << (bit % 8)
		changed = append(changed, string(flipped))
	}
	for _, now := range changed {
		if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.get(name); !errors.Is(err, bus.ErrDamaged) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", now, err)
		}
	}
}

// A put that fails leaves no file, and one that was killed leaves none after the next start.
func TestUnfinishedPuts(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"))
	s.put("whole")
	broken := errors.New("the source broke")
	source, sink := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.Put(t.Context(), source)
		ended <- err
	}()
	if _, err := sink.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if len(s.unfinished()) != 1 {
		t.Fatalf("unfinished %v", s.unfinished())
	}
	killed := s.crashed()
	_ = sink.CloseWithError(broken)
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("a put of a broken source: %v", err)
	}
	for when, s := range map[string]*blobStore{"failed": s, "killed": killed} {
		s.requireTexts(when, map[string]bool{"whole": true})
		if left := s.unfinished(); len(left) > 0 {
			t.Errorf("%s: %v", when, left)
		}
	}
}

// A closed store takes no blob and removes none.
func TestClosedBlobs(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bus"))
	name := s.put("x")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, putErr := s.Put(t.Context(), strings.NewReader("y"))
	_, removeErr := s.Remove(t.Context(), name, time.Now().Add(time.Hour))
	if !errors.Is(putErr, bus.ErrClosed) || !errors.Is(removeErr, bus.ErrClosed) || len(s.unfinished()) > 0 {
		t.Errorf("%v, %v, %v", putErr, removeErr, s.unfinished())
	}
	openStore(t, s.dir).requireTexts("opened again", map[string]bool{"x": true})
}
