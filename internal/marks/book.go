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

	"company/internal/folder"
	"company/internal/marks/away"
)

// The files, in the office's state folder.
const (
	marksFile  = "marks"       // slots of slotSize, each with a Place as JSON or empty
	DeathsFile = "deaths.json" // all deaths
	crashFile  = "crash"       // what Go writes of a fatal error or a panic that nothing recovers
)

const (
	slotSize  = 256
	maxSlots  = 1024
	maxDeaths = 1 << 20 // bytes of the deaths' file
	maxStack  = 8 << 10 // bytes of the crash file that are read and logged
)

// Book keeps the marks of one process. A nil Book keeps none.
type Book struct {
	folder *folder.Folder
	log    *slog.Logger
	kernel kernel

	mu     sync.Mutex
	file   *os.File // nil: nothing can be written
	free   []int    // slots that were given back
	slots  int      // that were ever used
	deaths tally
}

// Open counts the marks that the process before has left, and begins with none. The caller holds the
// office's lock. Files that cannot be read or written are logged: the office works without them.
func Open(f *folder.Folder, log *slog.Logger) *Book {
	return open(f, log, kernel{proc: "/proc", cgroups: "/sys/fs/cgroup"})
}

func open(f *folder.Folder, log *slog.Logger, k kernel) *Book {
	b := &Book{folder: f, log: log, kernel: k, deaths: readDeaths(f, log)}
	text, err := f.ReadFile(marksFile, slotSize*maxSlots)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("what the last process was busy with is not known", "err", err)
	}
	left := parseMarks(text)
	if crashed, killed := b.takeCrash(), b.takeKill(); !crashed && !killed {
		left = slices.DeleteFunc(left, func(p Place) bool { return p.Doing == Effect })
	}
	if len(left) > 0 {
		b.deaths.die(left)
		log.Warn("the last process died at work", "places", left)
		b.saveDeaths()
	}
	b.file, err = f.OpenFile(marksFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = b.file.Truncate(0)
	}
	if err != nil {
		log.Warn("what this process is busy with is not noted", "err", err)
	}
	return b
}

// parseMarks lists the places in the slots. A slot that cannot be read is skipped.
func parseMarks(text []byte) []Place {
	var out []Place
	for ; len(text) > 0; text = text[min(slotSize, len(text)):] {
		var p Place
		line, _, _ := bytes.Cut(text[:min(slotSize, len(text))], []byte{0})
		if json.Unmarshal(line, &p) == nil && p.Owner != "" {
			out = append(out, p)
		}
	}
	return out
}

// readDeaths reads the deaths. A file that cannot be read counts as none.
func readDeaths(f *folder.Folder, log *slog.Logger) tally {
	out := tally{}
	var list []Death
	text, err := f.ReadFile(DeathsFile, maxDeaths)
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

// ReadSetAside lists all places that are set aside, for those that do not hold the office's lock.
func ReadSetAside(f *folder.Folder, log *slog.Logger) []Death {
	return readDeaths(f, log).setAside("")
}

// Close says goodbye: this process did not die.
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

// IsSuspect reports whether an earlier process died while it carried out the effect with this key, and none
// has passed it since.
func (b *Book) IsSuspect(key string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deaths.hasDeaths(key)
}

// Show notes that the president has seen a place that is set aside.
func (b *Book) Show(p Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deaths.show(p)
	b.saveDeaths()
}

// Retry has the places of an owner that the president has seen tried once more. It is called when the
// owner is taken up again, which takes his answer. One more death sets such a place aside again.
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

// ForgetTasks forgets the deaths at effects of tasks that are over.
func (b *Book) ForgetTasks(isOver func(task string) bool) {
	b.forget(func(p Place) bool { return p.Task != "" && isOver(p.Task) })
}

// Forget forgets the deaths of an owner whose records are not read any more.
func (b *Book) Forget(owner string) {
	b.forget(func(p Place) bool { return p.Owner == owner })
}

// ForgetOthers forgets the deaths at other records than that of p, of the same owner and the same doing.
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

// saveDeaths writes the deaths. The caller holds mu, or is alone.
func (b *Book) saveDeaths() {
	text, err := json.MarshalIndent(append([]Death{}, b.deaths.sorted()...), "", "  ")
	if err == nil {
		err = b.folder.WriteFile(DeathsFile, append(text, '\n'), 0o600)
	}
	if err != nil {
		b.log.Warn("deaths are not noted", "err", err)
	}
}

// Enter marks a place: the process is busy with it until Move or Pass.
func (b *Book) Enter(p Place) *Mark {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &Mark{book: b, slot: -1, place: p}
	switch n := len(b.free); {
	case n > 0:
		m.slot, b.free = b.free[n-1], b.free[:n-1]
	case b.slots < maxSlots:
		m.slot = b.slots
		b.slots++
	}
	b.write(m.slot, p)
	return m
}

// write fills a slot; the zero Place empties it. The caller holds mu.
func (b *Book) write(slot int, p Place) {
	if b.file == nil || slot < 0 {
		return
	}
	var text [slotSize]byte
	if p != (Place{}) {
		line, err := json.Marshal(p)
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

// Mark is a place that the process is busy with. A nil Mark marks nothing. Several goroutines may be away
// at once; the other methods are for its owner.
type Mark struct {
	book  *Book
	slot  int
	place Place
	away  int // waits that are under way
	ended bool
}

// Move passes the place and enters another one.
func (m *Mark) Move(p Place) {
	if m == nil {
		return
	}
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	m.pass()
	m.place = p
	m.book.write(m.slot, p)
}

// Pass removes the mark: the process has survived the place, whatever came of it. Calling it again does nothing.
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

// pass forgets earlier deaths at the place. The caller holds the book's mu.
func (m *Mark) pass() {
	if m.book.deaths.pass(m.place) {
		m.book.saveDeaths()
	}
}

// Away removes the mark for as long as the process waits for something outside of itself: a
// process that is killed meanwhile did not die of the record. The caller calls back once.
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

// NewContext has waits that begin in the context remove the mark, as Away does.
func (m *Mark) NewContext(ctx context.Context) context.Context { return away.NewContext(ctx, m.Away) }
