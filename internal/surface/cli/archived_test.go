package cli

import (
	"strings"
	"testing"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
	"company/test/heldoffice"
)

// endTask makes a task whose worker left a journal, and which was cancelled then.
func endTask(t *testing.T, o *heldoffice.Office, sealed bool) company.TaskID {
	t.Helper()
	id := o.Executing("do it", 1)
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	offer := func() uint64 { o.Must(company.Offer{Run: run}); return o.Claim(run, "") }
	fence := offer()
	journal := company.Hash(strings.Repeat("ab", 32)) // of a blob that a cleanup took
	if sealed {
		o.WriteJournal(run, fence, func(j *ledger.Journal) {
			at := time.Unix(1, 0).UTC()
			for kind, data := range map[string]any{
				"prompt": map[string]any{"at": at, "system": map[string]string{"text": "you work"},
					"first": map[string]string{"text": "the ticket"}},
			} {
				if _, err := j.Append(t.Context(), kind, data); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if journal, err = j.Seal(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		fence = offer() // the office was opened again
	}
	o.Must(company.EndRun{Run: run, Fence: fence,
		Outcome: company.RunEnded{Status: company.RunError, Error: "enough", Journal: journal}})
	o.Must(company.Cancel{Task: id})
	o.Close() // which writes the files for people
	o.Reopen()
	return id
}

// What commands print of a task is the same once it is archived, of an office at rest and of
// one that another process serves: its feed, the conversation of its run, all that is known
// of it, and its reopening. So is why a conversation is not there any more.
func TestCommandsOnAnArchivedTask(t *testing.T) {
	for _, cleaned := range []bool{false, true} {
		o := heldoffice.Open(t)
		id := endTask(t, o, !cleaned)
		other := endTask(t, o, !cleaned)
		if cleaned {
			o.Must(company.RecordCleanup{Before: o.App.Now()})
		}
		print := func(id company.TaskID, commands ...string) map[string]string {
			out := map[string]string{}
			for _, served := range []bool{true, false} {
				if served {
					o.Serve()
				} else {
					o.Close()
				}
				for _, command := range commands {
					r := o.Run(t.Context(), execute, append(strings.Fields(command), string(id))...)
					for line := range strings.Lines(r.Out + r.Err) {
						if !strings.Contains(line, `"kind":"task.archived"`) { // the feed's own line of it
							out[command] += line
						}
					}
				}
			}
			o.Reopen()
			return out
		}
		commands := []string{"feed -o json", "feed", "logs", "logs -o json", "show -o json", "diff"}
		before := print(id, commands...)
		o.Archive(id)
		for command, got := range print(id, commands...) {
			if got != before[command] {
				t.Errorf("cleaned %v, %s %s was\n%q\nand is\n%q", cleaned, command, id, before[command], got)
			}
		}
		run := string(company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1))
		o.Close()
		if r := o.Run(t.Context(), execute, "feed", run, "--kind", "run.ended", "-o", "json"); r.Code != 0 ||
			strings.Count(r.Out, `"kind":"run.ended"`) != 1 || strings.Count(r.Out, "\n") != 1 {
			t.Errorf("the feed of %s: %+v", run, r)
		}
		o.Reopen()
		want := "the ticket"
		if cleaned {
			want = "a cleanup removed the leftovers of tasks"
		}
		if strings.Count(before["logs"], want) != 2 {
			t.Errorf("cleaned %v: logs prints\n%s", cleaned, before["logs"])
		}
		reopenTask(t, o, id)
		reopenTask(t, o, other)
		a, b := o.Task(id), o.Task(other)
		if a == nil || b == nil || a.Status != b.Status || a.Status.Ended() || len(a.Runs) != len(b.Runs) ||
			len(a.Subtasks) != len(b.Subtasks) {
			t.Errorf("cleaned %v: retried, the archived task is\n%+v\nand the other one\n%+v", cleaned, a, b)
		}
	}
}

// reopenTask retries a task over the API, as company retry does.
func reopenTask(t *testing.T, o *heldoffice.Office, id company.TaskID) {
	t.Helper()
	o.Serve()
	conn, err := client.Dial(t.Context(), office.FindHolder(o.Paths))
	if err == nil {
		_, err = conn.Do(t.Context(), "retry "+string(id), company.Retry{Task: id})
		conn.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
	o.Reopen()
}
