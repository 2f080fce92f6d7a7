package upkeep

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
)

var (
	attacks    = flag.Int("attacks", 0, "how many attacks TestAttackedStore makes on each kind of store; 0: some")
	attackSeed = flag.Uint64("attack-seed", 1, "of the first attack of TestAttackedStore; each has one of its own")
	attackFile = flag.String("attack-store", "",
		"file with the store that TestAttackedStore printed when it failed; empty: a new one")
)

// attackedStore is a store whose files are changed, with the answers that it gave when it was whole.
type attackedStore struct {
	*store
	files map[string][]byte // of the bus, and the snapshot; by their path
	named []company.Hash    // blobs
	whole map[string]string // what is read, by what is asked for
}

// newAttackedStore is a closed store with tasks under way, over and archived, blobs of all sizes,
// and a snapshot in the middle of its events.
func newAttackedStore(t *testing.T) *attackedStore {
	a := &attackedStore{store: newStore(t, "file"), files: map[string][]byte{}}
	if *attackFile != "" {
		text, err := os.ReadFile(*attackFile)
		must(t, err)
		a.close()
		a.unpackStore(string(text))
		a.readWhole()
		return a
	}
	for n := range 3 {
		run, journal := a.endRun(fmt.Sprint(n))
		a.named = append(a.named, journal, payloadOf(fmt.Sprint(n)))
		if n == 0 {
			must(t, a.orch.ArchiveTask(t.Context(), run.Task()))
			a.named = append(a.named, a.orch.View().Past[run.Task()].Blob)
		}
	}
	a.saveSnapshot()
	a.named = append(a.named, a.openJournal("open"))
	a.endLargeRun()
	a.close()
	must(t, filepath.WalkDir(a.office.State, func(path string, e fs.DirEntry, err error) error {
		isStore := strings.HasPrefix(path, a.office.Bus+"/") && e.Name() != "lock" ||
			path == filepath.Join(a.office.State, "snapshot")
		if err != nil || !e.Type().IsRegular() || !isStore {
			return err
		}
		a.files[path], err = os.ReadFile(path)
		return err
	}))
	a.readWhole()
	return a
}

// readWhole reads what the store holds while it is in order.
func (a *attackedStore) readWhole() {
	a.t.Helper()
	must(a.t, a.open())
	v, err := a.verifier().Run(a.t.Context())
	must(a.t, err)
	if len(v.Damage) > 0 {
		a.t.Fatalf("a store in order: %+v", v.Damage)
	}
	a.whole = a.readAll()
	a.close()
}

// packedStore is the files of a store, by their path below the office's state.
type packedStore struct {
	Files map[string][]byte
	Named []company.Hash
}

// packStore is the store as one line. Each store has times, nonces and salts of its own: a seed
// makes the same attack only on the same store.
func (a *attackedStore) packStore() string {
	p := packedStore{map[string][]byte{}, a.named}
	for path, text := range a.files {
		p.Files[strings.TrimPrefix(path, a.office.State)] = text
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	must(a.t, errors.Join(json.NewEncoder(zip).Encode(p), zip.Close()))
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// unpackStore puts a store that packStore packed in the place of this one.
func (a *attackedStore) unpackStore(text string) {
	a.t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	must(a.t, err)
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	must(a.t, err)
	var p packedStore
	must(a.t, json.NewDecoder(zip).Decode(&p))
	for path, text := range p.Files {
		a.files[a.office.State+path] = text
	}
	a.named = p.Named
	a.restore()
}

// An attack can be made again on the store that a failure printed: the same bytes of the same
// file change.
func TestAttacksCanBeRepeated(t *testing.T) {
	first := newAttackedStore(t)
	*attackFile = filepath.Join(t.TempDir(), "store")
	defer func() { *attackFile = "" }()
	must(t, os.WriteFile(*attackFile, []byte(first.packStore()+"\n"), 0o600))
	second := newAttackedStore(t)
	for seed := range uint64(20) {
		var made [2]string
		for i, a := range []*attackedStore{first, second} {
			path, what, isTorn := a.damageOne(rand.New(rand.NewPCG(seed, 187)))
			text, err := os.ReadFile(path)
			made[i] = fmt.Sprint(strings.TrimPrefix(path, a.office.State), what, isTorn, err != nil, hashOfText(string(text)))
			a.restore()
		}
		if made[0] != made[1] {
			t.Errorf("seed %d: %s, and then %s", seed, made[0], made[1])
		}
	}
	if !maps.Equal(first.whole, second.whole) {
		t.Error("the store reads otherwise")
	}
}

// endLargeRun has a run whose journal names a large blob.
func (a *attackedStore) endLargeRun() {
	a.t.Helper()
	large := strings.Repeat("large ", 30_000)
	a.named = append(a.named, a.putBlob(large))
	id := a.Submit("do much", "/p")
	a.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run := company.NewRunID(id, "", company.Manager, 1)
	j, err := a.ledger.OpenJournal(a.t.Context(), run, a.Claim(run, company.OID(strings.Repeat("a", 40))))
	must(a.t, err)
	_, err = j.Append(a.t.Context(), "tool", map[string]any{"whole": hashOfText(large)})
	must(a.t, err)
}

// readAll reads what the office has: events, the state, journals and blobs. What cannot be
// read is an error in its place.
func (a *attackedStore) readAll() map[string]string {
	ctx := a.t.Context()
	out := map[string]string{}
	note := func(what, text string, err error) {
		if err != nil {
			text = "error " + string(company.CodeOf(err))
		}
		out[what] = text
	}
	var events strings.Builder
	err := a.ledger.Read(ctx, 1, func(e company.Event) error {
		return json.NewEncoder(&events).Encode(e)
	})
	note("events", events.String(), err)
	s := a.orch.View()
	text, err := json.Marshal(map[string]any{"tasks": s.Tasks, "past": s.Past, "seq": s.Seq})
	note("state", string(text), err)
	runs, err := a.ledger.Journals(ctx)
	note("journals", fmt.Sprint(runs), err)
	for _, run := range runs {
		var lines strings.Builder
		err := a.ledger.ReadJournal(ctx, run, func(r ledger.Record) error { return json.NewEncoder(&lines).Encode(r) })
		note("journal "+string(run), lines.String(), err)
	}
	for _, h := range a.named {
		text, err := a.ledger.GetBlob(ctx, h, 1<<20)
		note("blob "+string(h), string(text), err)
	}
	return out
}

// restore puts all files back as they were.
func (a *attackedStore) restore() {
	a.t.Helper()
	must(a.t, filepath.WalkDir(a.office.State, func(path string, e fs.DirEntry, err error) error {
		inStore := strings.HasPrefix(path, a.office.Bus+"/") && e.Name() != "lock" ||
			path == filepath.Join(a.office.State, "snapshot")
		if err == nil && e.Type().IsRegular() && inStore && a.files[path] == nil {
			err = os.Remove(path)
		}
		return err
	}))
	for path, text := range a.files {
		if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, text) {
			continue
		}
		must(a.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)))
	}
}

// lastMark is how many bytes the mark behind the newest record of a file has, at its end.
const lastMark = 8

// damageOne does one thing to one file, and says what; isTorn: to its end, the mark of the newest record included.
func (a *attackedStore) damageOne(rng *rand.Rand) (path, what string, isTorn bool) {
	a.t.Helper()
	paths := slices.Sorted(maps.Keys(a.files))
	path = paths[rng.IntN(len(paths))]
	text := bytes.Clone(a.files[path])
	switch n := rng.IntN(10); {
	case n == 0 || len(text) == 0:
		must(a.t, os.Remove(path))
		return path, "deleted", false
	case n < 4:
		text = text[:rng.IntN(len(text))]
		what, isTorn = fmt.Sprint("cut to ", len(text)), true
	case n < 8:
		at, flip := rng.IntN(len(text)), byte(1<<rng.IntN(8))
		text[at] ^= flip
		what = fmt.Sprintf("%02x flipped in byte %d", flip, at)
	case n < 9:
		at := rng.IntN(len(text))
		end := min(len(text), at+1+rng.IntN(600))
		clear(text[at:end])
		what, isTorn = fmt.Sprintf("bytes %d to %d zeroed", at, end), end > len(text)-lastMark
	default:
		at := rng.IntN(len(text))
		for i := at; i < min(len(text), at+64); i++ {
			text[i] = byte(rng.Uint32())
		}
		what, isTorn = fmt.Sprintf("64 bytes from %d of %d are others", at, len(text)), at+64 > len(text)-lastMark
	}
	must(a.t, os.WriteFile(path, text, 0o600))
	return path, what, isTorn
}

// requireTold opens the store, and holds it to its promise: the opening or the verification
// reports each change, and a read gives only written bytes. isTorn says that the
// end of the file is gone, or is others' bytes, as after a torn write.
func (a *attackedStore) requireTold(when, path string, isTorn bool) {
	t := a.t
	t.Helper()
	defer time.AfterFunc(3*time.Minute, func() {
		panic(when + ": it does not come to an end, of the store\n" + a.packStore())
	}).Stop()
	err := a.open()
	if a.bus != nil {
		defer func() { _ = a.bus.Close(); a.bus = nil }()
	}
	if err != nil {
		if code := company.CodeOf(err); code != company.ELedger && code != company.EBus {
			t.Fatalf("%s: the opening: %v", when, err)
		}
		return
	}
	v, err := a.verifier().Run(t.Context())
	if err != nil {
		if code := company.CodeOf(err); code != company.ELedger {
			t.Fatalf("%s: the verification: %v", when, err)
		}
		return
	}
	got := a.readAll()
	for what, want := range a.whole {
		is := got[what]
		switch {
		case is == want:
		case what == "state" || what == "journals": // made from the events
		case strings.HasPrefix(is, "error E_LEDGER"), is == "error E_NOT_FOUND" && len(v.Damage) > 0,
			len(v.Damage) > 0 && is == "":
		case strings.HasPrefix(want, is) && (what == "events" || strings.HasPrefix(what, "journal ")):
		default:
			t.Fatalf("%s: %s reads as %.300q, want %.300q", when, what, is, want)
		}
	}
	if len(v.Damage) > 0 || maps.Equal(got, a.whole) {
		return
	}
	// A log whose end is gone looks like one of which a power cut took the newest bytes; what a
	// snapshot knows of is missed.
	if strings.HasSuffix(path, ".log") && isTorn && strings.HasPrefix(a.whole["events"], got["events"]) {
		return
	}
	// The ledger seals a journal when its run ends and then removes it, so it knows of no record in a file that is
	// there.
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && strings.Contains(path, "/run.") {
		return
	}
	for what, want := range a.whole {
		if got[what] != want {
			t.Errorf("%s: %s reads as %.300q, want %.300q", when, what, got[what], want)
		}
	}
	t.Fatalf("%s: the store is called whole", when)
}

// Whatever is done to one file of a store, its opening or its verification tells of it, or all
// reads as before. None panics, and none reads what was not written.
func TestAttackedStore(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine reads a store for each damage")
	a := newAttackedStore(t)
	defer func() {
		if t.Failed() {
			t.Logf("for -attack-store:\n%s", a.packStore())
		}
	}()
	n := 150
	if testing.Short() {
		n = 30
	}
	if *attacks > 0 {
		n = *attacks
	}
	for seed := *attackSeed; seed < *attackSeed+uint64(n); seed++ {
		path, what, isTorn := a.damageOne(rand.New(rand.NewPCG(seed, 187)))
		a.requireTold(fmt.Sprintf("seed %d, %s %s", seed, strings.TrimPrefix(path, a.office.State+"/"), what), path, isTorn)
		a.restore()
	}
	for path, text := range a.files { // each is deleted, and cut to lengths from none to almost all
		name := strings.TrimPrefix(path, a.office.State+"/")
		must(t, os.Remove(path))
		a.requireTold(name+" deleted", path, false)
		a.restore()
		for size := 0; size < len(text); size += max(1, 8*len(text)/n) {
			must(t, os.Truncate(path, int64(size)))
			a.requireTold(fmt.Sprint(name, " cut to ", size), path, true)
			a.restore()
		}
	}
}
