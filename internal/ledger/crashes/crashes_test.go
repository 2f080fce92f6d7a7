package crashes

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/lib/safedir"
	"company/internal/lib/safedir/foldertest"
)

// office is a state folder, and the process that has it.
type office struct {
	t      testing.TB
	folder *safedir.Folder
	tally  *Tally
}

func newOffice(t testing.TB) *office {
	o := &office{t: t, folder: foldertest.Open(t, t.TempDir())}
	o.tally = Open(o.folder, slog.New(slog.DiscardHandler))
	t.Cleanup(o.close)
	return o
}

// die ends the process without a goodbye, by a fatal error of Go or by a kill, and starts the next one.
func (o *office) die(crashed bool) {
	_ = o.tally.file.Close()
	if crashed {
		if err := o.folder.WriteFile(crashFile, []byte("fatal error: stack overflow\n"), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	o.tally = Open(o.folder, slog.New(slog.DiscardHandler))
}

func (o *office) close() {
	if err := o.tally.Close(); err != nil {
		o.t.Error(err)
	}
}

func (o *office) enter(key string) (leave func()) {
	o.t.Helper()
	leave, err := o.tally.Enter(key, "t1")
	if err != nil {
		o.t.Fatal(err)
	}
	return leave
}

func (o *office) requireRefused(key string) {
	o.t.Helper()
	if _, err := o.tally.Enter(key, "t1"); company.CodeOf(err) != company.ECrash || !strings.Contains(err.Error(), key) {
		o.t.Fatalf("%s: %v", key, err)
	}
}

func (o *office) requireDeadly(want ...string) {
	o.t.Helper()
	var got []string
	for _, w := range ListDeadly(o.folder, slog.New(slog.DiscardHandler)) {
		got = append(got, w.Key)
	}
	if !slices.Equal(got, want) {
		o.t.Errorf("deadly: %q, want %q", got, want)
	}
}

// Work during which Go ended two processes in a row is refused once, so that a person hears of it.
func TestTwoCrashesAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.enter("gate")()
	o.enter("gate")
	o.die(true)
	o.requireDeadly()
	o.close() // a process that never came there says nothing of the work
	o.tally = Open(o.folder, slog.New(slog.DiscardHandler))
	o.enter("gate")
	o.requireDeadly("gate")
	o.die(true)
	o.requireDeadly("gate")
	o.requireRefused("gate")
	o.requireDeadly()
	o.enter("gate") // after the president's yes
	o.die(true)
	o.enter("gate")()
	o.requireDeadly()
}

// Kills count less: the machine may have been restarted. Other work that was not under way at a death is innocent.
func TestKillsCountLess(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.enter("other")
	for i := range KillLimit {
		o.enter("gate")
		o.die(i == 2)
	}
	o.enter("other")
	o.requireRefused("gate")
}

// SIGQUIT is not a crash, and neither is a process that said goodbye.
func TestGoodbyeIsNoDeath(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for range KillLimit {
		o.enter("gate")
		o.close()
		o.tally = Open(o.folder, slog.New(slog.DiscardHandler))
	}
	for range Limit {
		o.enter("gate")
		if err := o.folder.WriteFile(crashFile, []byte("SIGQUIT: quit\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o.die(false)
	}
	o.enter("gate")
}

// Deaths during work for a task that is over are forgotten.
func TestTasksAreForgotten(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for range Limit {
		o.enter("gate")
		o.die(true)
	}
	o.tally.ForgetTasks(func(id company.TaskID) bool { return id != "t1" })
	o.requireDeadly("gate")
	o.tally.ForgetTasks(func(id company.TaskID) bool { return id == "t1" })
	o.requireDeadly()
	o.enter("gate")
}

// An office works whatever is in the files, and without them.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", `[{"key":1}]`, `[{"key":"gate","busy":true}]"left of a longer list"}]`} {
		o := newOffice(t)
		o.close()
		if err := o.folder.WriteFile(busyFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o.tally = Open(o.folder, slog.New(slog.DiscardHandler))
		if got := o.tally.work["gate"].Deaths; got != strings.Count(text, "gate") {
			t.Errorf("%q: %d deaths", text, got)
		}
		o.enter("gate")()
	}
	dir := t.TempDir()
	for _, name := range []string{busyFile, crashFile} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tally := Open(foldertest.Open(t, dir), slog.New(slog.DiscardHandler))
	leave, err := tally.Enter("gate", "")
	if err != nil || tally.Close() != nil {
		t.Fatal(err)
	}
	leave()
}

// Goroutines enter and leave beside each other.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for range 20 {
				if leave, err := o.tally.Enter(strings.Repeat("k", i+1), ""); err == nil {
					leave()
				}
			}
		})
	}
	all.Wait()
	if text, err := o.folder.ReadFile(busyFile, maxBusy); err != nil || string(text) != "[]" && string(text) != "null" {
		t.Errorf("%s, %v", text, err)
	}
}
