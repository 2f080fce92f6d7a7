package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/present/view"
)

var writeGolden = flag.Bool("golden", false, "write the screens of testdata again")

// holdFrame compares the screen with the stored one.
func (d *desktop) holdFrame(name string) {
	d.t.Helper()
	path := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, d.width, d.height))
	got := d.text()
	if *writeGolden {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if got != string(want) {
		d.t.Errorf("%s is not as stored (go test ./internal/surface/tui -golden rewrites it). Now:\n%s", path, got)
	}
}

// TestFrames: the screens at both sizes, with no task, one, and 40, with long titles and
// wide ones (UI-2, UI-3).
func TestFrames(t *testing.T) {
	long := func(i int) string {
		if i%3 == 0 {
			return "全ての画面の文字列を日本語に翻訳し、幅の広い文字が欄を崩さないことを確かめる作業"
		}
		return strings.Repeat("a title that does not end ", 12)
	}
	patch := "diff --git a/limit/limit.go b/limit/limit.go\nindex bbbb111..aaaa111 100644\n--- a/limit/limit.go\n+++ " +
		"b/limit/limit.go\n@@ -1,2 +1,3 @@\n package limit\n+var count int\n func Limit() {}\n"
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		open := func(src view.Source) *desktop {
			return openDesktop(t, size[0], size[1], snapshotOf(t, src))
		}
		empty := view.Source{State: company.NewState(), Now: now, AtWork: true}
		empty.State.Office.ID = "k3fq"
		o, err := empty.Overview(true)
		if err != nil {
			t.Fatal(err)
		}
		openDesktop(t, size[0], size[1],
			snapshot{now: now, link: link{state: linkLive}, overview: o, agents: empty.Agents()}).holdFrame("overview-empty")
		d := open(withQuestion(sourceOf(0, nil)))
		d.holdFrame("overview-one")
		open(sourceOf(40, long)).holdFrame("overview-40")
		d.press("i")
		d.holdFrame("questions")
		pulls := open(withPull(withQuestion(sourceOf(0, nil))))
		pulls.holdFrame("overview-pull")
		pulls.press("i", "j")
		pulls.holdFrame("questions-pull")
		d.press("esc", "enter")
		d.holdFrame("task-details")
		d.press("down", "down", "4")
		d.holdFrame("task-gates")
		d.press("3")
		snap := d.snap
		snap.diff = patchText{of: "t12-01", key: "x", text: patch}
		d.tell(snapshotMsg(snap))
		d.holdFrame("task-diff")
		d.press("2")
		snap.log = runLog{run: "t12-01.1",
			entries: []string{"\n12:00:31  assistant\n  I look at the limit first.\n",
				"\n12:00:32  x run_command go test ./...  1.2s\n  FAIL limit\n"},
			outputs: []agent.LiveOutput{{ID: "2", Name: "run_command", About: "go test -v ./...",
				Since: now.Add(-95 * time.Second), Lines: []string{"--- PASS: TestLimit (0.00s)", "=== RUN   TestBurst"}}}}
		d.tell(snapshotMsg(snap))
		d.press("tab")
		d.holdFrame("task-transcript")
		d.press("?")
		d.holdFrame("help")
	}
}
