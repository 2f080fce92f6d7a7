package runfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir"
	"company/internal/lib/safedir/foldertest"
	"company/test/goroutines"
)

// killedVariable names the folder in which a process writes until it is killed.
const killedVariable = "COMPANY_TEST_RUNFILES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedVariable); dir != "" {
		writeUntilKilled(dir)
	}
	goroutines.Main(m)
}

// writeUntilKilled writes files of runs, and says how far it is.
func writeUntilKilled(dir string) {
	runs, err := safedir.Make(dir)
	if err != nil {
		panic(err)
	}
	w := NewWriter(runs, func(_ company.RunID, _ string, err error) {
		if err != nil {
			panic(err)
		}
	})
	for n := 1; ; n++ {
		id := company.RunID(fmt.Sprintf("t1-01.%d", n%7+1)) // files are replaced, too
		w.Put(id, TranscriptFile, markedText(n, 200_000))
		w.Put(id, ResultFile, markedText(n, 3000))
		if n == 8 {
			fmt.Println("begun")
		}
	}
}

// markedText is a text that shows whether it is whole: it ends as it begins.
func markedText(n, size int) []byte {
	mark := fmt.Sprintf("%08d", n)
	return []byte(mark + strings.Repeat("x", size) + mark)
}

// awaitFile waits until a file of a run is in its place.
func awaitFile(t *testing.T, dir string) {
	t.Helper()
	hosttest.Eventually(t, "a file is in its place", func() (any, bool) {
		files, err := filepath.Glob(filepath.Join(dir, "t1-01.*", "[a-z]*"))
		if err != nil {
			t.Fatal(err)
		}
		return files, len(files) > 0
	})
}

// A process that is killed while it writes leaves each file whole or not at all. (ART-1)
func TestKilledWriterLeavesWholeFiles(t *testing.T) {
	seen := 0
	for n := range 12 {
		dir := filepath.Join(t.TempDir(), "runs")
		cmd := exec.Command(os.Args[0], "-test.run=^$") // it is killed below
		cmd.Env = append(os.Environ(), killedVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 5)); err != nil {
			t.Error(err)
		}
		if n == 11 { // some file is there, on a busy machine, too
			awaitFile(t, dir)
		}
		<-time.After(time.Duration(n) * 3 * time.Millisecond) // another moment each time
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		files, err := filepath.Glob(filepath.Join(dir, "t1-01.*", "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasPrefix(filepath.Base(file), ".") {
				continue // it is not in its place
			}
			seen++
			text, err := os.ReadFile(file)
			if err != nil || len(text) < 3016 || !bytes.Equal(text[:8], text[len(text)-8:]) {
				t.Errorf("%s has %d bytes, %v", file, len(text), err)
			}
		}
	}
	if seen == 0 {
		t.Error("no file was written before the kills")
	}
}

// Of two files of a name the later stays; each is reported; one that cannot be written keeps
// no other from being written.
func TestWriterWritesInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	var mu sync.Mutex
	reports := map[company.RunID]string{}
	w := NewWriter(foldertest.Open(t, dir), func(run company.RunID, name string, err error) {
		mu.Lock()
		defer mu.Unlock()
		reports[run] += fmt.Sprint(name, " ", err == nil, ", ")
	})
	if err := os.WriteFile(filepath.Join(dir, "t1-02.1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		w.Put("t1-01.1", ResultFile, fmt.Append(nil, n))
		w.Put(company.RunID(fmt.Sprintf("t1-03.%d", n+1)), TranscriptFile, []byte("said"))
	}
	w.Put("t1-02.1", ResultFile, []byte("in the way"))
	w.Put("t1-01.1", TranscriptFile, []byte("said"))
	if err := w.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "t1-01.1", ResultFile)); err != nil || string(text) != "299" {
		t.Errorf("%q, %v", text, err)
	}
	if want := strings.Repeat("result.json true, ", 300) + "transcript.ndjson true, "; reports["t1-01.1"] != want ||
		reports["t1-02.1"] != "result.json false, " || len(reports) != 302 {
		t.Errorf("reports of %d runs, %q, %q", len(reports), reports["t1-02.1"], reports["t1-01.1"])
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 302 {
		t.Errorf("%d folders, %v", len(entries), err)
	}
}

// An edit gets the text of what was put before it; a file or a folder that is not there is not
// made for it, and what it cannot change stays.
func TestWriterEditsInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	w := NewWriter(foldertest.Open(t, dir), func(_ company.RunID, _ string, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	var mu sync.Mutex
	ends := map[string]string{}
	edit := func(run company.RunID, name string, change func([]byte) ([]byte, error)) {
		w.Edit(run, name, Edit{Change: change, Done: func(found bool, err error) {
			mu.Lock()
			defer mu.Unlock()
			ends[string(run)+" "+name] += fmt.Sprint(found, " ", err, ", ")
		}})
	}
	add := func(what string) func([]byte) ([]byte, error) {
		return func(old []byte) ([]byte, error) { return append(bytes.Clone(old), what...), nil }
	}
	edit("t1-09.1", ResultFile, add("x"))
	w.Put("t1-01.1", ResultFile, []byte("a"))
	edit("t1-01.1", ResultFile, add("b"))
	edit("t1-01.1", ResultFile, func([]byte) ([]byte, error) { return nil, nil })
	edit("t1-01.1", ResultFile, func([]byte) ([]byte, error) { return []byte("z"), errors.New("no result") })
	edit("t1-01.1", ResultFile, add("c"))
	edit("t1-01.1", TranscriptFile, add("x"))
	if err := w.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "t1-02.1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	edit("t1-02.1", ResultFile, add("x"))
	if err := w.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "t1-01.1", ResultFile)); err != nil || string(text) != "abc" {
		t.Errorf("%q, %v", text, err)
	}
	want := map[string]string{
		"t1-01.1 result.json":       "true <nil>, true <nil>, true no result, true <nil>, ",
		"t1-01.1 transcript.ndjson": "false <nil>, ",
		"t1-09.1 result.json":       "false <nil>, ", "t1-02.1 result.json": "false <nil>, ",
	}
	if !maps.Equal(ends, want) {
		t.Errorf("the edits ended with\n%v\nwant\n%v", ends, want)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// While the disk stands still, so much waits and no more: who puts then waits for room, and
// who awaits gives up in time.
func TestWriterIsBounded(t *testing.T) {
	for name, size := range map[string]int{"files": 1, "bytes": maxWaitingBytes / 8} {
		t.Run(name, func(t *testing.T) {
			stalled, entered := make(chan struct{}), make(chan struct{}, 2*maxWaiting)
			w := NewWriter(foldertest.Open(t, filepath.Join(t.TempDir(), "runs")), func(company.RunID, string, error) {
				entered <- struct{}{}
				<-stalled
			})
			most := min(maxWaiting, maxWaitingBytes/size)
			text := make([]byte, size)
			for range most {
				w.Put("t1-01.1", ResultFile, text)
			}
			<-entered
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("no longer"))
			if err := w.Await(ctx); err == nil || err.Error() != "no longer" {
				t.Errorf("awaited: %v", err)
			}
			over := make(chan struct{})
			go func() {
				w.Put("t1-01.1", ResultFile, text)
				close(over)
			}()
			select {
			case <-over:
				t.Error("more waits than may")
			default:
			}
			w.mu.Lock()
			if n := w.put - w.done; n > maxWaiting || w.bytes > maxWaitingBytes {
				t.Errorf("%d files of %d bytes wait", n, w.bytes)
			}
			w.mu.Unlock()
			close(stalled)
			<-over
			if err := w.Await(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file that is longer than all that may wait is written alone.
func TestWriterTakesALongFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	w := NewWriter(foldertest.Open(t, dir), func(company.RunID, string, error) {})
	w.Put("t1-01.1", ResultFile, []byte("{}"))
	w.Put("t1-01.1", TranscriptFile, make([]byte, maxWaitingBytes+1))
	w.Put("t1-01.2", ResultFile, []byte("{}"))
	if err := w.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "t1-01.1", TranscriptFile)); err != nil ||
		info.Size() != maxWaitingBytes+1 {
		t.Errorf("%v, %v", info, err)
	}
}
