package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/api/client"
	"company/internal/app"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
	"company/test/heldoffice"
)

// reply is a journal's record of a model's reply.
func reply(text string) map[string]any {
	return map[string]any{"n": 1, "at": time.Unix(1, 0).UTC(),
		"message": map[string]string{"text": fmt.Sprintf(`{"role":"assistant","content":%q}`, text)}}
}

func mustAppend(t *testing.T, j *ledger.Journal, kind string, data any) {
	t.Helper()
	if _, err := j.Append(t.Context(), kind, data); err != nil {
		t.Fatal(err)
	}
}

// A transcript that is followed over the socket shows what was said before and what is
// said then, each once, and ends when the run has ended: also where the journal was
// sealed and purged before the follower read its end.
func TestFollowTranscript(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("follow me", 1)
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	o.Must(company.Offer{Run: run})
	fence := o.Claim(run, "")
	l := app.LedgerOf(o.App)
	j, err := l.OpenJournal(t.Context(), run, fence)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(
		t, j, "prompt",
		map[string]any{"at": time.Unix(1, 0).UTC(), "system": map[string]string{"text": "you work"},
			"first": map[string]string{"text": "the ticket"}})
	mustAppend(t, j, "reply", reply("before"))
	o.Serve()
	conn, err := client.Dial(t.Context(), office.FindHolder(o.Paths))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	said := make(chan string, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- conn.StreamTranscript(t.Context(), run, true, func(e agent.TranscriptEntry) error {
			if e.Message != nil {
				said <- e.Message.Content
			}
			return nil
		})
	}()
	for _, want := range []string{"you work", "the ticket", "before"} {
		if got := <-said; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	mustAppend(t, j, "reply", reply("while it is followed"))
	if got := <-said; got != "while it is followed" {
		t.Fatalf("%q", got)
	}
	mustAppend(t, j, "reply", reply("its last words"))
	sealed, _, err := l.SealJournal(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	o.Must(company.EndRun{Run: run, Fence: fence,
		Outcome: company.RunEnded{Status: company.RunError, Error: "enough", Journal: sealed}})
	if err := l.PurgeJournal(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := <-said; got != "its last words" || len(said) > 0 {
		t.Errorf("%q, and %d more", got, len(said))
	}
	whole, err := conn.ReadTranscript(t.Context(), run)
	if err != nil || len(whole.Messages) != 5 || whole.AgentID != "worker" {
		t.Errorf("%+v %v", whole, err)
	}
}

// Who follows goes away at once, and a run that is none is told at once.
func TestFollowTranscriptEnds(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("follow me", 1)
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	o.Must(company.Offer{Run: run})
	o.Claim(run, "")
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := o.App.StreamTranscript(ctx, run, true, func(agent.TranscriptEntry) error { cancel(enough); return nil })
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	if err := o.App.StreamTranscript(t.Context(), "t1-01.9", true, nil); company.CodeOf(err) != company.ENotFound {
		t.Error(err)
	}
}

// The conversation of a task that a cleanup let go of is said to be removed, and not damaged.
func TestRemovedTranscript(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("clean me", 1)
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	o.Must(company.Offer{Run: run})
	journal := company.Hash(strings.Repeat("ab", 32)) // of a blob that a cleanup took
	o.Must(company.EndRun{Run: run, Fence: o.Claim(run, ""),
		Outcome: company.RunEnded{Status: company.RunError, Error: "enough", Journal: journal}})
	o.Must(company.Cancel{Task: id})
	read := func() error {
		return o.App.StreamTranscript(t.Context(), run, false, func(agent.TranscriptEntry) error { return nil })
	}
	if err := read(); !errors.Is(err, bus.ErrNotFound) || strings.Contains(err.Error(), "was removed") {
		t.Errorf("before the cleanup: %v", err)
	}
	o.Must(company.RecordCleanup{Before: o.App.Now()})
	if err := read(); company.CodeOf(err) != company.ENotFound || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("after the cleanup: %v", err)
	}
}
