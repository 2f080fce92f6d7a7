package app_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/api/client"
	"company/internal/company"
	"company/internal/office"
	"company/test/heldoffice"
)

// Who follows a run over the socket sees what its commands print: those that had printed
// when they came, each newer output, and the ends. Of another run nothing comes, and who
// does not follow sees none.
func TestFollowersSeeLiveOutput(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("follow me", 2)
	var runs []company.RunID
	for n := 1; n <= 2; n++ {
		run := company.NewRunID(id, company.NewSubtaskID(id, n), company.Worker, 1)
		o.Must(company.Offer{Run: run})
		o.Claim(run, "")
		runs = append(runs, run)
	}
	o.Serve()
	conn, err := client.Dial(t.Context(), office.FindHolder(o.Paths))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	since := time.Unix(100, 0).UTC()
	put := func(run company.RunID, call string, lines ...string) {
		o.App.WatchOutput(run, agent.LiveOutput{ID: call, Name: "run_command", About: "make", Since: since, Lines: lines})
	}
	put(runs[0], "c1", "before")
	put(runs[0], "c0", "over")
	put(runs[0], "c0")
	put(runs[1], "c1", "of another")

	ctx, cancel := context.WithCancelCause(t.Context())
	seen := make(chan agent.LiveOutput)
	ended := make(chan error, 1)
	go func() {
		ended <- conn.StreamTranscript(ctx, runs[0], true, func(e agent.TranscriptEntry) error {
			if e.Output != nil {
				seen <- *e.Output
			}
			return nil
		})
	}()
	await := func(call string, lines ...string) {
		t.Helper()
		select {
		case got := <-seen:
			if got.ID != call || !slices.Equal(got.Lines, lines) || got.About != "make" || !got.Since.Equal(since) {
				t.Fatalf("%+v, want %s %q", got, call, lines)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s %q does not come", call, lines)
		}
	}
	await("c1", "before")
	put(runs[0], "c2", "beside it")
	await("c2", "beside it")
	put(runs[1], "c1", "more of another")
	put(runs[0], "c1", "before", "then")
	await("c1", "before", "then")
	put(runs[0], "c1")
	await("c1")
	enough := errors.New("enough")
	cancel(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Error(err)
	}
	err = o.App.StreamTranscript(t.Context(), runs[0], false, func(e agent.TranscriptEntry) error {
		if e.Output != nil {
			t.Errorf("who does not follow sees %+v", e.Output)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
