package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// stepClock puts a house on a machine whose wall clock the test sets, and gives
// what sets it: how far it is from the real one.
func stepClock(t *testing.T, h *testenv.House) (set func(string)) {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	h.Bin = filepath.Join(h.Dir, "stepped")
	build := exec.Command("go", "build", "-o", h.Bin, "./test/stepped")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build stepped: %v\n%s", err, out)
	}
	file := filepath.Join(h.Dir, "step")
	h.Env = append(h.Env, "WALL_CLOCK_STEP="+file)
	set = func(by string) {
		t.Helper()
		next := file + ".next" // a reader sees the old one or the new one
		if err := os.WriteFile(next, []byte(by), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	set("0s")
	return set
}

// A negative age, as status, show and the feed would have it.
var negativeAge = regexp.MustCompile(`\s-\d+([smh.]|$)|_ms":-\d`)

// agesAreSane looks at what a president looks at while a run is held.
func agesAreSane(t *testing.T, h *testenv.House, when string) {
	t.Helper()
	for _, args := range [][]string{{"status"}, {"show", "t1"}, {"show", "t1-01.1"}, {"agents"}, {"project", "list"},
		{"pr", "list"}, {"feed"}} {
		text := h.MustRun(patience, args...).Stdout
		if bad := negativeAge.FindString(text); bad != "" {
			t.Errorf("%s: company %s shows %q:\n%s", when, strings.Join(args, " "), bad, text)
		}
	}
	var v struct {
		Running []struct {
			ID         string
			Status     string
			DurationMS int64 `json:"duration_ms"`
		}
	}
	h.JSON(&v, "status")
	if len(v.Running) != 1 || v.Running[0].ID != "t1-01.1" || v.Running[0].Status != "running" ||
		v.Running[0].DurationMS < 0 || v.Running[0].DurationMS > patience.Milliseconds() {
		t.Errorf("%s: running is %+v", when, v.Running)
	}
}

// TestWallClockIsSet: the wall clock is set by a day, forward and back, while a
// worker works, and between two starts of the office. No run ends, nothing waits
// for a day, no age is negative, and no event is older than the one before it.
func TestWallClockIsSet(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	held := stopAt("t1-01.1", 1)
	defer held.release()
	h := openTinyProject(t, farewells(held))
	set := stepClock(t, h)
	p := startServing(t, h)
	h.MustRun(patience, "submit", "--detach", "say goodbye")
	held.wait(t, p)
	agesAreSane(t, h, "at first")
	for _, by := range []string{"24h", "-24h"} {
		set(by)
		h.MustRun(patience, "hire") // a decision: the company looks at its clock
		agesAreSane(t, h, "at "+by)
	}
	runAndExpect(t, h, []string{"ahead of this machine's, which was set back"}, "status")
	held.release()
	p.Event(patience, "task.completed", "")
	checkDelivered(t, h, 1, 1, 1)
	if calls := h.Model.Calls().ByRun; calls["t1-01.2"] != 0 {
		t.Errorf("the run was done again: %v", calls)
	}
	endServing(t, p)

	// The clock is set by a day, in both directions, between two starts.
	for n, by := range []string{"-48h", "24h"} {
		set(by)
		p = startServing(t, h)
		if n == 0 {
			p.Until(patience, "a word on its clock", func(it feed.Item) bool {
				return it.Kind == "office.started" && strings.Contains(it.Text, "this machine's says")
			})
		}
		waitForSummary(t, h.Start("submit", "say goodbye again"), 0)
		checkDelivered(t, h, n+2, n+2, 1)
		endServing(t, p)
	}
	var tasks struct {
		Tasks []struct {
			ID         string
			DurationMS int64 `json:"duration_ms"`
		}
	}
	h.JSON(&tasks, "status")
	for _, task := range tasks.Tasks {
		if task.DurationMS < 0 || task.DurationMS > (10*time.Minute).Milliseconds() {
			t.Errorf("%s took %d ms", task.ID, task.DurationMS)
		}
	}
	var last feed.Item
	feedOf(t, h, func(it feed.Item) {
		if it.Time.Before(last.Time) {
			t.Errorf("%s (%d) at %s follows %s at %s", it.Kind, it.Seq, it.Time, last.Kind, last.Time)
		}
		if strings.Contains(it.Text, "E_TIMEOUT") || strings.Contains(it.Text, "deadline") {
			t.Errorf("%s: %s", it.Kind, it.Text)
		}
		last = it
	})
}

// feedOf gives the events of an office, as company feed tells them.
func feedOf(t *testing.T, h *testenv.House, each func(feed.Item)) {
	t.Helper()
	out := h.MustRun(patience, "feed", "-o", "json").Stdout
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) < 10 {
		t.Fatalf("the feed has %d lines:\n%s", len(lines), out)
	}
	for _, line := range lines {
		var it feed.Item
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		each(it)
	}
}
