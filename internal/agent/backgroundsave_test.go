package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
)

// slowRoom is a workspace whose states are kept when the test says so.
type slowRoom struct {
	*room
	saving chan struct{} // one for each save that has begun
	keep   chan error    // how the save ends
}

func (w *slowRoom) Save(ctx context.Context, turn int) (*Saved, error) {
	w.saving <- struct{}{}
	if err := <-w.keep; err != nil {
		return nil, err
	}
	return w.room.Save(ctx, turn)
}

// slowBench has a model that takes a word from the test before each reply.
func slowBench(
	t *testing.T, script ...adapters.Response,
) (b *bench, w *slowRoom, asked chan int, answer chan struct{}) {
	t.Helper()
	m := replies(script...)
	reply := m.reply
	asked, answer = make(chan int), make(chan struct{})
	m.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		asked <- n
		<-answer
		return reply(n, req)
	}
	b = newBench(t, m)
	w = &slowRoom{room: b.enter(t, map[company.OID][]string{}, nil), saving: make(chan struct{}, 4),
		keep: make(chan error)}
	b.cfg.Workspace = w
	return b, w, asked, answer
}

// The state of a change is kept while the model thinks about it; the next change
// waits for that, and what only reads does not.
func TestStateIsKeptWhileTheModelThinks(t *testing.T) {
	b, w, asked, answer := slowBench(
		t, calls(`write {"path":"a"}`), calls(`look {"path":"a"}`), calls(`write {"path":"b"}`), finish)
	looked := make(chan struct{})
	look := b.cfg.Tools[0]
	look.Spec.Name, look.ReadOnly = "look", true
	look.Run = func(context.Context, json.RawMessage) (Result, error) {
		close(looked)
		return Result{Text: "seen"}, nil
	}
	b.cfg.Tools = append(b.cfg.Tools, look)
	wrote := make(chan struct{}, 2)
	write := b.cfg.Tools[1].Run
	b.cfg.Tools[1].Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
		wrote <- struct{}{}
		return write(ctx, args)
	}
	done := make(chan Outcome)
	go func() {
		out, err := b.run(t)
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	<-asked
	answer <- struct{}{}
	<-wrote
	<-w.saving
	if n := <-asked; n != 2 || b.journal.count(kindTool) != 1 || b.journal.count(kindSaved) != 0 {
		t.Errorf("request %d comes with %d results and %d states in the journal", n, b.journal.count(kindTool),
			b.journal.count(kindSaved))
	}
	answer <- struct{}{}
	<-looked
	<-asked
	answer <- struct{}{}
	select {
	case <-wrote:
		t.Error("a change began before the state of the one before was kept")
	case w.keep <- nil:
		<-wrote
	}
	<-w.saving
	w.keep <- nil
	<-asked
	answer <- struct{}{}
	if out := <-done; out.End != EndFinal {
		t.Errorf("%+v", out)
	}
	var kinds []string
	for _, k := range b.journal.kinds {
		if k == kindTool || k == kindSaved {
			kinds = append(kinds, k)
		}
	}
	if want := []string{kindTool, kindTool, kindSaved, kindTool, kindSaved, kindTool}; !slices.Equal(kinds, want) {
		t.Errorf("the journal has %v, want %v", kinds, want)
	}
}

// A state that cannot be kept ends the run before anything else changes, also when
// it is the last.
func TestStateThatIsNotKept(t *testing.T) {
	lost := errors.New("the container is gone")
	for name, script := range map[string][]adapters.Response{
		"before a change": {calls(`write {"path":"a"}`), calls(`write {"path":"b"}`)},
		"at the end":      {calls(`write {"path":"a"}`), finish},
		"out of turns":    {calls(`write {"path":"a"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			b, w, asked, answer := slowBench(t, script...)
			b.cfg.MaxTurns = len(script)
			done := make(chan error)
			go func() {
				_, err := b.run(t)
				done <- err
			}()
			for range script {
				<-asked
				answer <- struct{}{}
			}
			w.keep <- lost
			if err := <-done; !errors.Is(err, lost) {
				t.Error(err)
			}
			if n := b.journal.count(kindTool); n != 1 || len(w.lines) != 1 {
				t.Errorf("%d results, %d changes", n, len(w.lines))
			}
		})
	}
}
