// Package crashes counts the processes of an office that died in a row while the same work was under way.
//
// A process notes in a file what is under way. The file is not synced, since the kernel keeps the writes of a process
// that dies. The next process finds there what was under way when it died, by a fatal error of Go, which recover cannot
// stop, by a kill of the kernel for lack of memory, or by kill -9. Only Go tells its own end, with the stacks, in a
// second file.
//
// After Limit fatal errors of Go in a row, or KillLimit deaths of any kind, the work is refused once, so that a person
// hears of it. Both files are hints: an office works without them.
package crashes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// Limits of processes that died in a row during the same work.
const (
	Limit     = 2 // by fatal errors of Go
	KillLimit = 5 // in any way; restarts of a machine and kills by hand look like this
)

// The files, in the office's state folder.
const (
	busyFile  = "busy.json"
	crashFile = "crash" // output of Go for a fatal error or an unrecovered panic
	maxBusy   = 1 << 20 // bytes
	maxStack  = 8 << 10 // bytes that are read and logged
)

// Work is under way, or was when a process died.
type Work struct {
	Key     string         `json:"key"` // of an effect, or a description
	Task    company.TaskID `json:"task,omitempty"`
	Busy    bool           `json:"busy,omitempty"`    // under way now, or when the last process ended
	Deaths  int            `json:"deaths,omitempty"`  // processes that died in a row during it
	Crashes int            `json:"crashes,omitempty"` // of these by a fatal error of Go
}

// String describes the deaths for people.
func (w Work) String() string {
	return fmt.Sprintf("company died %s in a row during %q", company.Count(w.Deaths, "time"), w.Key)
}

// Tally is the count of one process. A nil Tally counts nothing.
type Tally struct {
	log *slog.Logger

	mu   sync.Mutex
	file *os.File        // nil if nothing can be noted
	work map[string]Work // by key
}

// Open counts the death of the last process, unless that closed its Tally. The caller holds the office's lock.
func Open(folder *safedir.Folder, log *slog.Logger) *Tally {
	t := &Tally{log: log, work: map[string]Work{}}
	crashed := takeCrash(folder, log)
	list := readWork(folder, log)
	died := slices.ContainsFunc(list, func(w Work) bool { return w.Busy })
	for _, work := range list {
		if work.Busy {
			if work.Deaths++; crashed {
				work.Crashes++
			}
			log.Warn("the last process died at work", "work", work.Key, "times in a row", work.Deaths)
		} else if died {
			continue // this death had another cause
		}
		work.Busy = false
		t.work[work.Key] = work
	}
	var err error
	if t.file, err = folder.OpenFile(busyFile, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		log.Warn("work that is under way is not noted", "err", err)
	}
	t.writeBusy()
	return t
}

// ListDeadly lists the work during which at least Limit processes died in a row, and that no process has ended since.
// It does not need the office's lock.
func ListDeadly(folder *safedir.Folder, log *slog.Logger) []Work {
	list := readWork(folder, log)
	for i := range list { // of a process that died, until the next one counts
		if list[i].Busy {
			list[i].Deaths++
		}
	}
	return slices.DeleteFunc(list, func(w Work) bool { return w.Deaths < Limit })
}

func readWork(folder *safedir.Folder, log *slog.Logger) (list []Work) {
	text, err := folder.ReadFile(busyFile, maxBusy)
	if err == nil && len(text) > 0 {
		// A process may have died before it cut a longer list off.
		err = json.NewDecoder(strings.NewReader(string(text))).Decode(&list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the work of the last process is not known", "err", err)
	}
	return list
}

// takeCrash reports whether Go itself ended the last process, and logs its output. It directs the output of this
// process to the file.
func takeCrash(folder *safedir.Folder, log *slog.Logger) bool {
	var text []byte
	file, err := folder.OpenFile(crashFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(file, maxStack))
		err = errors.Join(err, file.Truncate(0), debug.SetCrashOutput(file, debug.CrashOptions{}), file.Close())
	}
	if err != nil {
		log.Warn("fatal errors are not noted", "err", err)
	}
	// SIGQUIT is not a crash: a person sent it to see the stacks.
	if len(text) == 0 || strings.HasPrefix(string(text), "SIGQUIT") {
		return false
	}
	log.Error("the last process ended by a fatal error", "stack", string(text))
	return true
}

// Enter notes work until leave is called. task may be empty. It returns an error if too many processes died during it,
// and forgets them then.
func (t *Tally) Enter(key string, task company.TaskID) (leave func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	work := t.work[key]
	if work.Crashes >= Limit || work.Deaths >= KillLimit {
		delete(t.work, key)
		t.writeBusy()
		return nil, company.E(company.ECrash, key+" is set aside").Because(work.String()).
			Fix("yes tries once more, such as after an update of company or with more memory; no gives the task up. The log " +
				"of the office shows how company died").
			NeedsPerson()
	}
	work.Key = key
	work.Task = task
	work.Busy = true
	t.work[key] = work
	t.writeBusy()
	return func() { t.forgetWork(func(w Work) bool { return w.Key == key }) }, nil
}

// ForgetTasks forgets the deaths during work for tasks that are over.
func (t *Tally) ForgetTasks(isOver func(company.TaskID) bool) {
	t.forgetWork(func(w Work) bool { return w.Task != "" && !w.Busy && isOver(w.Task) })
}

func (t *Tally) forgetWork(is func(Work) bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.work)
	if maps.DeleteFunc(t.work, func(_ string, w Work) bool { return is(w) }); len(t.work) != before {
		t.writeBusy()
	}
}

// writeBusy writes the file. The caller holds mu, or has not shared t yet.
func (t *Tally) writeBusy() {
	if t.file == nil {
		return
	}
	list := slices.SortedFunc(maps.Values(t.work), func(a, b Work) int { return strings.Compare(a.Key, b.Key) })
	text, err := json.Marshal(list)
	if err == nil {
		if _, err = t.file.WriteAt(text, 0); err == nil {
			err = t.file.Truncate(int64(len(text)))
		}
	}
	if err != nil {
		t.log.Warn("work that is under way is not noted any more", "err", err)
		_ = t.file.Close()
		t.file = nil
	}
}

// Close ends the count, so that the end of this process is not a death.
func (t *Tally) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	maps.DeleteFunc(t.work, func(_ string, w Work) bool { return w.Busy }) // it survived what is cut off now
	if t.writeBusy(); t.file == nil {
		return nil
	}
	err := errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), t.file.Close())
	t.file = nil
	return err
}
