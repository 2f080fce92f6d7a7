package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/orchestrator"
)

// tell passes on what happens between two events.
func (h *house) tell(it orchestrator.Item) {
	it.Time, it.After = now(), h.View().Seq
	h.live.Tell(it)
}

// Follow gives the feed from event number from on, until ctx ends. What
// happens between two events comes between them, never before the event that
// it follows from.
func (h *house) Follow(ctx context.Context, from uint64, fn func(orchestrator.Item) error) error {
	live, end := h.live.Listen()
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	events := make(chan company.Event)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	from = max(1, from)
	wg.Go(func() {
		err := h.ledger.Follow(ctx, from, func(e company.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		cancel(err)
	})
	last := from - 1
	var early []orchestrator.Item // their events have not come yet
	for {
		var next []orchestrator.Item
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.life.Done():
			return context.Cause(h.life)
		case e := <-events:
			last = e.Seq
			next = append(next, orchestrator.Describe(e, h.View().Tasks[e.Task]))
		case it := <-live:
			early = append(early, it)
		}
		for len(early) > 0 && early[0].After <= last {
			next, early = append(next, early[0]), early[1:]
		}
		for _, it := range next {
			if err := fn(it); err != nil {
				return err
			}
		}
	}
}

// activity passes on what happens in a conversation.
func (h *house) activity(run company.RunID, e agent.Event) {
	it := orchestrator.Item{Task: run.Task(), Run: run, Kind: string(e.Kind), Mark: orchestrator.Info, DurationMS: e.Duration.Milliseconds()}
	if _, sub, _, _, err := run.Split(); err == nil {
		it.Subtask = sub
	}
	if t := h.View().Tasks[it.Task]; t != nil {
		if r := t.Runs[run]; r != nil {
			it.Worker = r.Worker
		}
	}
	switch e.Kind {
	case agent.ToolDone:
		it.Mark, it.Text = orchestrator.Done, strings.TrimSpace(e.Tool+" "+agent.CleanLine(e.Args, 80))
		if e.IsError {
			it.Mark, it.Text = orchestrator.Failed, it.Text+": "+agent.CleanLine(e.Text, 120)
		}
	case agent.Waiting:
		it.Mark, it.Text = orchestrator.Stalled, fmt.Sprintf("the model's server asks to wait %s: %s", e.Wait, agent.CleanLine(e.Text, 120))
	default:
		it.Quiet, it.Text = true, agent.CleanLine(e.Text, 200)
	}
	h.tell(it)
}
