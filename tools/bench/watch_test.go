package main

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/lib/hosttest"
)

// Where TestQuickWatch leaves pictures of what the browser showed, and in full the whole bench:
// go test ./tools/bench -run TestQuickWatch -v -args -pictures /tmp -full
var (
	watchPictures = flag.String("pictures", "", "folder for pictures of TestQuickWatch; empty: none")
	watchFull     = flag.Bool("full", false, "TestQuickWatch has the office of 2,000 subtasks")
)

// The bench of what watching costs needs no Docker.
func TestQuickWatch(t *testing.T) {
	hosttest.Long(t, "a browser shows four pages for two seconds each")
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "company")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, "company/cmd/company")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build company: %v\n%s", err, out)
	}
	o := Options{Dir: dir, Quick: !*watchFull, Program: program, Progress: func(s string) { t.Log(s) }}
	if *watchPictures != "" {
		o.seen = func(path string, picture []byte) {
			name := strings.NewReplacer("/", "_", "?", "_", "=", "_").Replace(path) + ".png"
			if err := os.WriteFile(filepath.Join(*watchPictures, name), picture, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	r, err := Run(t.Context(), []string{"watch"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.RenderText())
	if findChromium() == "" {
		hosttest.Lacks(t, "this host has no chromium: the page was not driven")
	}
	countLines(t, r)
	pages := 0
	for _, l := range r.Lines {
		what, _, isOf := strings.Cut(l.What, ", ")
		if !isOf || what != "renders in the busiest second" && what != "requests" {
			continue
		}
		if pages++; !*l.Met { // the page counts, whatever the machine's speed
			t.Errorf("%s: %.2f %s, and %s is promised: %s", l.What, l.Ours, l.Unit, l.Target, l.Note)
		}
	}
	if pages != 8 {
		t.Errorf("%d numbers of renders and requests, want those of four pages", pages)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	// A store's git cat-file stays for half a second after its last question.
	hosttest.Eventually(t, "no process is left", func() (any, bool) {
		left := processesOf(t, dir)
		return left, len(left) == 0
	})
}

// processesOf gives the command lines of processes that name the directory.
func processesOf(t *testing.T, dir string) (found []string) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), dir) { // it may have ended
			found = append(found, string(text))
		}
	}
	return found
}

// Where there is no Chromium, the report says so.
func TestWatchWithoutChromium(t *testing.T) {
	w := &benchEnv{Options: Options{Quick: true, Logger: slog.New(slog.DiscardHandler),
		Progress: func(s string) { t.Log(s) }}, dir: t.TempDir()}
	o, err := w.openWatched(t.Context(), "w", watchSize{tasks: 1, waves: 2, width: 3, workers: 1}, clock.Machine())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	lines, err := o.measurePage(t.Context(), w)
	if err := errors.Join(err, o.close()); err != nil {
		t.Fatal(err)
	}
	text := Report{Lines: lines}.RenderText()
	if len(lines) != 2 || lines[0].Met == nil || lines[0].Ours < 1 {
		t.Errorf("%+v", lines)
	}
	for _, want := range []string{"the page in a browser", "not measured", "no chromium in PATH"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}

// A listener that misses an event ends the bench.
func TestFollowerHoldsTheFeedToItsPromise(t *testing.T) {
	l := &follower{seq: 3, ended: make(chan struct{})}
	l.moved = sync.NewCond(&l.mu)
	const stream = "id: 4\ndata: {\"seq\":4}\n\ndata: {\"kind\":\"tool_done\"}\n\n: beat\n\n"
	if err := l.readFeed(
		bufio.NewReaderSize(strings.NewReader(stream+"id: 5\ndata: "+strings.Repeat("x", 40_000)+"\n\n"), 16)); !errors.Is(
		err, io.EOF) {
		t.Errorf("%v", err)
	}
	if l.seq != 5 || l.items != 3 {
		t.Errorf("event %d and %d items, want 5 and 3", l.seq, l.items)
	}
	if err := l.readFeed(bufio.NewReader(strings.NewReader("id: 7\ndata: {}\n\n"))); company.CodeOf(
		err) != company.EInternal {
		t.Errorf("a missed event: %v", err)
	}
}
