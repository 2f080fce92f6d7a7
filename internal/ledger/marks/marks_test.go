package marks

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"company/internal/ledger/marks/away"
	"company/internal/lib/safedir"
)

// office is a state folder, and the process that has it.
type office struct {
	t    testing.TB
	dir  string
	book *Book
	all  *safedir.Folder
}

func newOffice(t testing.TB) *office {
	t.Helper()
	return newOfficeIn(t, t.TempDir())
}

func newOfficeIn(t testing.TB, dir string) *office {
	t.Helper()
	f, err := safedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := &office{t: t, dir: dir, all: f}
	o.start()
	return o
}

func (o *office) start() { o.book = Open(o.all, slog.New(slog.DiscardHandler)) }

// die ends the process without a goodbye.
func (o *office) die() {
	if o.book.file != nil {
		_ = o.book.file.Close()
	}
	o.start()
}

func (o *office) close() {
	if err := o.book.Close(); err != nil {
		o.t.Error(err)
	}
}

func (o *office) requireAside(owner string, want ...Place) {
	o.t.Helper()
	var got []Place
	for _, d := range o.book.SetAside(owner) {
		got = append(got, d.Place)
	}
	if !slices.Equal(got, want) {
		o.t.Errorf("set aside of %q: %v, want %v", owner, got, want)
	}
}

// TestTwoDeathsSetAside: two processes that died at one place set it aside, and a process that passes it forgets them.
func TestTwoDeathsSetAside(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	defer func() { o.close(); _ = o.all.Close() }()
	p := Place{Owner: "t1-01.1", Doing: Call, N: 3, Part: 2}
	o.book.Enter(p)
	o.die()
	o.requireAside("t1-01.1")
	o.close() // a process that never came there says nothing of the place
	o.start()
	o.book.Enter(Place{Owner: "t1-01.1", Doing: Resume, N: 1}).Move(p)
	o.die()
	o.requireAside("t1-01.1", p)
	o.requireAside("t1-02.1")
	o.requireAside("", p)
	if got := ReadSetAside(o.all, slog.New(slog.DiscardHandler)); len(got) != 1 || got[0].Count != 2 ||
		got[0].String() != "making call 2 of reply 3" {
		t.Errorf("read from outside: %v", got)
	}

	o.book.Retry("t1-01.1") // the president was not told yet
	o.requireAside("t1-01.1", p)
	o.book.Show(p)
	o.book.Retry("t1-01.1")
	o.requireAside("t1-01.1")
	o.book.Enter(p)
	o.die() // the one attempt more
	o.requireAside("t1-01.1", p)
	o.book.Enter(p).Pass()
	o.requireAside("t1-01.1")
	o.die()
	o.requireAside("")
}

// TestWaitsAreNoDeaths: who is killed while it waits did not die of the record.
func TestWaitsAreNoDeaths(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	defer func() { o.close(); _ = o.all.Close() }()
	p := Place{Owner: "t1-01.1", Doing: Call, N: 1, Part: 1}
	for range 3 {
		m := o.book.Enter(p)
		ctx := m.NewContext(t.Context())
		back := away.Begin(ctx)
		again := away.Begin(ctx)
		back()
		o.die()
		_ = again
	}
	o.requireAside("")
	m := o.book.Enter(p)
	away.Begin(m.NewContext(t.Context()))()
	o.die()
	if d := o.book.deaths[p]; d.Count != 1 {
		t.Errorf("after a wait: %+v", d)
	}
	m = o.book.Enter(p)
	back := m.Away()
	m.Pass()
	back() // too late to stand there again
	o.die()
	if len(o.book.deaths) != 0 {
		t.Errorf("after its end: %v", o.book.deaths)
	}
	var none *Book
	none.Enter(p).Move(p)
	none.Enter(p).Pass()
	none.Enter(p).Away()()
	none.Retry("")
	none.Forget("")
	none.ForgetOthers(p)
	if none.SetAside("") != nil || none.Close() != nil {
		t.Error("a book that is none has deaths")
	}
}

// TestEffectsDieByCrashesAlone: what stands through long waits names a death where Go itself ended the process.
func TestEffectsDieByCrashesAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	defer func() { o.close(); _ = o.all.Close() }()
	one, over := Place{Owner: "gate t1 abc", Task: "t1", Doing: Effect},
		Place{Owner: "image t2 abc", Task: "t2", Doing: Effect}
	run := Place{Owner: "t1-01.1", Doing: Call, N: 1}
	for n, last := range []string{"", "SIGQUIT: quit\n\ngoroutine 1", "fatal error: stack overflow\n", "panic: no"} {
		if err := o.all.WriteFile(crashFile, []byte(last), 0o600); err != nil {
			t.Fatal(err)
		}
		o.book.Enter(one)
		o.book.Enter(over)
		if n == 0 {
			o.book.Enter(run)
		}
		o.die()
		if text, err := o.all.ReadFile(crashFile, 0); err != nil || len(text) > 0 {
			t.Errorf("a crash counts twice: %s, %v", text, err)
		}
	}
	if d := o.book.deaths[run]; d.Count != 1 {
		t.Errorf("a record was killed at: %+v", d)
	}
	o.requireAside("", one, over)
	o.book.ForgetTasks(func(task string) bool { return task == "t2" })
	o.requireAside("", one)
}

// TestDamagedFiles: an office works whatever is in the files, or where they cannot be written.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	defer func() { o.close(); _ = o.all.Close() }()
	p := Place{Owner: "t1-01.1", Doing: Reply, N: 1}
	o.book.Enter(Place{Owner: strings.Repeat("x", slotSize)})
	o.book.Enter(p)
	o.close()
	if err := os.WriteFile(filepath.Join(o.dir, marksFile), []byte("{\x00]"+strings.Repeat("{", 700)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.dir, DeathsFile), []byte("[{]"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.start()
	o.requireAside("")
	o.close()
	if err := os.Remove(filepath.Join(o.dir, marksFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(o.dir, marksFile), 0o700); err != nil {
		t.Fatal(err)
	}
	o.start()
	o.book.Enter(p).Pass()
}

// TestManyMarks: goroutines mark beside each other, and more than there is room for is not marked.
func TestManyMarks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	defer func() { o.close(); _ = o.all.Close() }()
	var together sync.WaitGroup
	for g := range 20 {
		together.Go(func() {
			for n := range 50 {
				m := o.book.Enter(Place{Owner: fmt.Sprint("t1-", g), Doing: Resume, N: n})
				m.Move(Place{Owner: fmt.Sprint("t1-", g), Doing: Reply, N: n})
				m.Away()()
				m.Pass()
				m.Pass()
			}
		})
	}
	together.Wait()
	if o.book.slots > 20 || len(o.book.free) != o.book.slots {
		t.Errorf("%d slots, %d of them free", o.book.slots, len(o.book.free))
	}
	for n := range maxSlots + 10 {
		o.book.Enter(Place{Owner: "t2", N: n})
	}
	o.die()
	if len(o.book.deaths) != maxSlots {
		t.Errorf("%d deaths", len(o.book.deaths))
	}
}

// TestAnySequence: after any sequence of processes that come to places, wait, pass them, die and say goodbye, a place
// is set aside exactly if the last Limit processes that came to its end or died there have died, or the one that was
// let try once more (REC-2).
func TestAnySequence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		sub := filepath.Join(dir, fmt.Sprint(n))
		if err := os.Mkdir(sub, 0o700); err != nil {
			rt.Fatal(err)
		}
		o := newOfficeIn(t, sub)
		defer func() { o.close(); _ = o.all.Close() }()
		deaths, shown := map[Place]int{}, map[Place]bool{}
		at := map[Place]*Mark{}
		waits := map[Place]func(){}
		place := rapid.Custom(func(t *rapid.T) Place {
			return Place{Owner: rapid.SampledFrom([]string{"t1-01.1", "t1-02.1"}).Draw(t, "owner"),
				Doing: rapid.SampledFrom([]string{Resume, Reply}).Draw(t, "doing"), N: rapid.IntRange(1, 2).Draw(t, "n")}
		})
		end := func() {
			clear(at)
			clear(waits)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				if p := place.Draw(t, "place"); at[p] == nil {
					at[p] = o.book.Enter(p)
				}
			},
			"move": func(t *rapid.T) {
				from, to := place.Draw(t, "from"), place.Draw(t, "to")
				if at[from] == nil || at[to] != nil || waits[from] != nil {
					return
				}
				at[from].Move(to)
				at[to] = at[from]
				delete(at, from)
				delete(deaths, from)
				delete(shown, from)
			},
			"wait": func(t *rapid.T) {
				p := place.Draw(t, "place")
				switch {
				case waits[p] != nil:
					waits[p]()
					delete(waits, p)
				case at[p] != nil:
					waits[p] = at[p].Away()
				}
			},
			"pass": func(t *rapid.T) {
				if p := place.Draw(t, "place"); at[p] != nil {
					at[p].Pass()
					delete(at, p)
					delete(waits, p)
					delete(deaths, p)
					delete(shown, p)
				}
			},
			"die": func(*rapid.T) {
				for p := range at {
					if waits[p] == nil {
						deaths[p]++
					}
				}
				end()
				o.die()
			},
			"goodbye": func(*rapid.T) {
				end()
				o.close()
				o.start()
			},
			"show": func(t *rapid.T) {
				if p := place.Draw(t, "place"); deaths[p] > 0 {
					o.book.Show(p)
					shown[p] = true
				}
			},
			"retry": func(t *rapid.T) {
				owner := place.Draw(t, "place").Owner
				o.book.Retry(owner)
				for p := range deaths {
					if p.Owner == owner && shown[p] {
						deaths[p] = Limit - 1
						delete(shown, p)
					}
				}
			},
			"": func(t *rapid.T) {
				want := maps.Clone(deaths)
				maps.DeleteFunc(want, func(_ Place, n int) bool { return n < Limit })
				got := map[Place]int{}
				for _, d := range o.book.SetAside("") {
					got[d.Place] = d.Count
				}
				if !maps.Equal(got, want) {
					t.Fatalf("set aside %v, want %v", got, want)
				}
			},
		})
	})
}
