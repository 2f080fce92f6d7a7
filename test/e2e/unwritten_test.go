package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
)

// TestFilesThatCannotBeWritten: something stands in the way of the files that
// people read, while a run works. The task is done all the same; the feed of a
// later day, show and the summary tell what is missing and why, nothing names a
// file that is not there, and what can be written again is.
func TestFilesThatCannotBeWritten(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	work := saysGoodbye()
	brain := &staff{manager: submitPlan(farewellTicket())}
	h := openTinyProject(t, brain)
	office := filepath.Join(h.Repo, ".company")
	state := filepath.Join(office, "runtime", "state", "t1.json")
	inTheWay := []string{
		filepath.Join(office, "runtime", "runs", "t1-01.1", "transcript.ndjson"),
		filepath.Join(office, "runtime", "runs", "t1-01.1", "result.json"),
		filepath.Join(office, "workflows", "backlog", "t1-01.md"), state,
	}
	brain.worker = func(x scripted.Exchange) scripted.Reply {
		if x.Turn == 0 {
			for _, file := range inTheWay {
				// The company may write the file between the removal and the new folder.
				err, done := hosttest.WaitUntil(func() (any, bool) {
					err := errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Join(file, "x"), 0o700))
					return err, err == nil
				})
				if !done {
					return scripted.Reply{Err: err.(error).Error()}
				}
			}
		}
		return work(x)
	}
	if sum := waitForSummary(t, h.Start("submit", "say goodbye"), 0); !strings.Contains(
		sum.Hint, "4 files not written: company show t1") {
		t.Errorf("the summary: %+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)

	want := []string{"runs/t1-01.1/transcript.ndjson", "runs/t1-01.1/result.json", "backlog/t1-*.md", "state/t1.json"}
	told := map[string]int{}
	for line := range strings.Lines(h.MustRun(patience, "feed", "-o", "json").Stdout) {
		var it struct{ Kind, Text string }
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		if it.Kind == "file.unwritten" {
			told[strings.Split(it.Text, " could not be written: ")[0]]++
		}
	}
	shown := h.MustRun(patience, "show", "t1").Stdout
	for _, file := range want {
		if told[file] != 1 {
			t.Errorf("the feed tells %d times that %s is not written: %v", told[file], file, told)
		}
		if !strings.Contains(shown, "not written: "+file+": ") {
			t.Errorf("show does not tell of %s:\n%s", file, shown)
		}
	}
	var run struct {
		Run struct {
			Files     []string
			Unwritten []company.UnwrittenFile
		}
	}
	h.JSON(&run, "show", "t1-01.1")
	if len(run.Run.Unwritten) != 2 || len(run.Run.Files) != 1 || !strings.HasSuffix(run.Run.Files[0], "git.log") {
		t.Errorf("the run is shown with %+v", run.Run)
	}
	if logs := h.MustRun(patience, "logs", "--full", "t1-01.1").Stdout; !strings.Contains(logs, "farewell.sh") {
		t.Errorf("the conversation is not shown from the journal:\n%s", logs)
	}

	for _, file := range inTheWay[2:] {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
	h.MustRun(patience, "submit", "--dry-run", "say goodbye again")
	var st struct {
		Conversations map[string]string `json:"conversation_histories"`
	}
	readJSON(t, state, &st)
	if _, claimed := st.Conversations["t1-01.1"]; claimed || st.Conversations["t1-01-review.1"] == "" {
		t.Errorf("transcripts that are named: %v", st.Conversations)
	}
	shown = h.MustRun(patience, "show", "t1").Stdout
	for i, file := range want {
		if listed := strings.Contains(shown, "not written: "+file); listed != (i < 2) {
			t.Errorf("%s is told to be unwritten: %v\n%s", file, listed, shown)
		}
	}
}
