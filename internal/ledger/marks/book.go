package marks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"company/internal/ledger/marks/away"
	"company/internal/lib/safedir"
)

// The files, in the office's state folder.
const (
	marksFile  = "marks"       // slots of slotSize bytes, each empty or holding a Place as JSON
	DeathsFile = "deaths.json" // all deaths
	crashFile  = "crash"       // output of Go for a fatal error or an unrecovered panic
)

const (
	slotSize  = 256
	maxSlots  = 1024
	maxDeaths = 1 << 20 // bytes of the deaths' file
	maxStack  = 8 << 10 // bytes of the crash file that are read and logged
)

// Book keeps the marks of one process. A nil Book keeps no marks.
type Book struct {
	folder *safedir.Folder
	log    *slog.Logger
	kernel kernel

	mu     sync.Mutex
	file   *os.File // nil if the marks cannot be written
	free   []int    // slots that were given back
	slots  int      // number of slots ever used
	deaths tally
}

// Open counts the marks that the previous process has left as deaths, and starts without marks. The
// caller holds the office's lock. Files that cannot be read or written are logged, and the office
// works without them.
func Open(f *safedir.Folder, log *slog.Logger) *Book {
	return open(f, log, kernel{proc: "/proc", cgroups: "/sys/fs/cgroup"})
}

func open(folder *safedir.Folder, log *slog.Logger, k kernel) *Book {
	book := &Book{folder: folder, log: log, kernel: k, deaths: readDeaths(folder, log)}
	text, err := folder.ReadFile(marksFile, slotSize*maxSlots)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("what the last process was busy with is not known", "err", err)
	}
	left := parseMarks(text)
	if crashed, killed := book.takeCrash(), book.takeKill(); !crashed && !killed {
		left = slices.DeleteFunc(left, func(p Place) bool { return p.Doing == Effect })
	}
	if len(left) > 0 {
		book.deaths.die(left)
		log.Warn("the last process died at work", "places", left)
		book.saveDeaths()
	}
	book.file, err = folder.OpenFile(marksFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = book.file.Truncate(0)
	}
	if err != nil {
		log.Warn("what this process is busy with is not noted", "err", err)
	}
	return book
}

// parseMarks lists the places in the slots. A slot that cannot be read is skipped.
func parseMarks(text []byte) []Place {
	var out []Place
	for ; len(text) > 0; text = text[min(slotSize, len(text)):] {
		var place Place
		line, _, _ := bytes.Cut(text[:min(slotSize, len(text))], []byte{0})
		if json.Unmarshal(line, &place) == nil && place.Owner != "" {
			out = append(out, place)
		}
	}
	return out
}

// readDeaths reads the deaths. It logs a file that cannot be read and returns no deaths.
func readDeaths(folder *safedir.Folder, log *slog.Logger) tally {
	out := tally{}
	var list []Death
	text, err := folder.ReadFile(DeathsFile, maxDeaths)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("earlier deaths are not known", "err", err)
	}
	for _, d := range list {
		out[d.Place] = d
	}
	return out
}

// ReadSetAside lists all places that are set aside, for callers without the office's lock.
func ReadSetAside(f *safedir.Folder, log *slog.Logger) []Death {
	return readDeaths(f, log).setAside("")
}

// Close removes the marks, so that the end of this process does not count as a death.
func (b *Book) Close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return nil
	}
	err := b.folder.Remove(aliveFile)
	if errors.Is(err, fs.ErrNotExist) { // it could not be written
		err = nil
	}
	err = errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), b.file.Truncate(0), b.file.Close(), err)
	b.file = nil
	return err
}

// SetAside lists the places of an owner that are set aside.
func (b *Book) SetAside(owner string) []Death {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deaths.setAside(owner)
}

// IsSuspect reports whether an earlier process died during the effect with this key, and no process
// has passed it since.
func (b *Book) IsSuspect(key string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deaths.hasDeaths(key)
}

// Show records that the president has seen a place that is set aside.
func (b *Book) Show(place Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deaths.show(place)
	b.saveDeaths()
}

// Retry allows one more attempt at the places of an owner that the president has seen. It is called
// when the owner is resumed, which requires the president's answer. One more death sets such a place
// aside again.
func (b *Book) Retry(owner string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deaths.retry(owner) {
		b.saveDeaths()
	}
}

// ForgetTasks removes the deaths at effects of tasks that are over.
func (b *Book) ForgetTasks(isOver func(task string) bool) {
	b.forget(func(p Place) bool { return p.Task != "" && isOver(p.Task) })
}

// Forget removes the deaths of an owner whose records are not read any more.
func (b *Book) Forget(owner string) {
	b.forget(func(p Place) bool { return p.Owner == owner })
}

// ForgetOthers removes the deaths at other places with the same Owner and Doing as p.
func (b *Book) ForgetOthers(p Place) {
	b.forget(func(q Place) bool { return q.Owner == p.Owner && q.Doing == p.Doing && q != p })
}

func (b *Book) forget(gone func(Place) bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.deaths)
	maps.DeleteFunc(b.deaths, func(p Place, _ Death) bool { return gone(p) })
	if len(b.deaths) != before {
		b.saveDeaths()
	}
}

// saveDeaths writes the deaths. The caller holds mu, or has not shared b yet.
func (b *Book) saveDeaths() {
	text, err := json.MarshalIndent(append([]Death{}, b.deaths.sorted()...), "", "  ")
	if err == nil {
		err = b.folder.WriteFile(DeathsFile, append(text, '\n'), 0o600)
	}
	if err != nil {
		b.log.Warn("deaths are not noted", "err", err)
	}
}

// Enter marks a place. The mark stays until Move or Pass.
func (b *Book) Enter(place Place) *Mark {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	mark := &Mark{book: b, slot: -1, place: place}
	switch n := len(b.free); {
	case n > 0:
		mark.slot, b.free = b.free[n-1], b.free[:n-1]
	case b.slots < maxSlots:
		mark.slot = b.slots
		b.slots++
	}
	b.write(mark.slot, place)
	return mark
}

// write fills a slot. The zero Place empties it. The caller holds mu.
func (b *Book) write(slot int, place Place) {
	if b.file == nil || slot < 0 {
		return
	}
	var text [slotSize]byte
	if place != (Place{}) {
		line, err := json.Marshal(place)
		if err != nil || len(line) >= slotSize {
			return
		}
		copy(text[:], line)
	}
	if _, err := b.file.WriteAt(text[:], int64(slot*slotSize)); err != nil {
		b.log.Warn("what this process is busy with is not noted any more", "err", err)
		_ = b.file.Close()
		b.file = nil
	}
}

// Mark is a place at which the process is working. A nil Mark has no effect. Several goroutines may
// call Away at once. Only the owner may call the other methods.
type Mark struct {
	book  *Book
	slot  int
	place Place
	away  int // number of waits in progress
	ended bool
}

// Move passes the place and enters another one.
func (m *Mark) Move(place Place) {
	if m == nil {
		return
	}
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	m.pass()
	m.place = place
	m.book.write(m.slot, place)
}

// Pass removes the mark: the process has survived the place, whatever the outcome. Repeated calls have
// no effect.
func (m *Mark) Pass() {
	if m == nil {
		return
	}
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	if m.ended {
		return
	}
	m.ended = true
	m.book.write(m.slot, Place{})
	m.pass()
	if m.slot >= 0 {
		m.book.free = append(m.book.free, m.slot)
	}
}

// pass removes earlier deaths at the place. The caller holds the book's mu.
func (m *Mark) pass() {
	if m.book.deaths.pass(m.place) {
		m.book.saveDeaths()
	}
}

// Away removes the mark while the process waits for an external operation, because a kill in that time
// is not caused by the record. The caller must call back exactly once, when the wait ends.
func (m *Mark) Away() (back func()) {
	if m == nil {
		return func() {}
	}
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	if m.away++; m.away == 1 && !m.ended {
		m.book.write(m.slot, Place{})
	}
	return func() {
		m.book.mu.Lock()
		defer m.book.mu.Unlock()
		if m.away--; m.away == 0 && !m.ended {
			m.book.write(m.slot, m.place)
		}
	}
}

// NewContext returns a context whose waits remove the mark, like Away.
func (m *Mark) NewContext(ctx context.Context) context.Context { return away.NewContext(ctx, m.Away) }
