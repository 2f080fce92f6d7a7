package projection

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office/officetest"
)

// fixedState is a company in which nothing is decided any more.
type fixedState struct{ s *company.State }

func (f fixedState) View() *company.State { return f.s }
func (fixedState) Do(context.Context, string, company.Command) ([]company.Event, error) {
	return nil, nil
}

// The files of a task whose process died before they were written are written by
// the next one, and those that are right are left alone.
func TestOutdatedFilesAreWritten(t *testing.T) {
	s := company.NewState()
	for id, status := range map[company.TaskID]company.TaskStatus{"t1": company.StatusCancelled,
		"t2": company.StatusCancelled, "t3": company.StatusExecuting} {
		s.Tasks[id] = &company.Task{ID: id, Status: status, Updated: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	}
	p := New(officetest.Open(t))
	p.Connect(fixedState{s}, blobs{}, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	p.markOutdated(s)
	if len(p.pending) != 3 {
		t.Fatalf("%d tasks are to be written, want 3", len(p.pending))
	}
	p.FlushPending(t.Context())
	p.markOutdated(s)
	if len(p.pending) != 1 || p.pending["t3"] == nil {
		t.Fatalf("to be written are %v, want the open task", p.pending)
	}
}
