package mcpserver

import (
	"context"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
)

// Host is the program that runs a server. It provides access to the office, and functions that the
// office's API lacks. Its methods are safe for concurrent use. Errors are the company's own.
type Host interface {
	// Connect connects to the office in its current state. It creates no office.
	Connect(ctx context.Context) (*client.Office, error)
	// Patch returns the unified diff of a range.
	Patch(ctx context.Context, r view.Range) (view.Patch, error)
	// Log returns the conversation of a run as text. id may name a run, a subtask or a task. full adds
	// tool calls.
	Log(ctx context.Context, o *client.Office, id string, full bool) (company.RunID, string, error)
	// PullPage returns a pull request with its evidence as text.
	PullPage(ctx context.Context, r view.PullRecord) (view.PullText, error)
	// Submit sends an instruction to the company, and starts its work in the background.
	Submit(ctx context.Context, s view.Submission) (company.TaskID, error)
	// GoOn starts the work of the office in the background if a task can continue. It reports whether
	// work has started there.
	GoOn(ctx context.Context, task company.TaskID) (bool, error)
	// Wait returns when tasks rest: each has ended, is paused, or waits for a person. When ctx ends
	// first, it returns its cause.
	Wait(ctx context.Context, ids []company.TaskID) error
}

// Grants are the permissions of a client besides reading.
type Grants struct {
	Write   bool // submit, answer, tell, pause, resume, stop, cancel
	Approve bool // approve, reject
}
