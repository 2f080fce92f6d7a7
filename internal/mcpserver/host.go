package mcpserver

import (
	"context"

	"company/internal/client"
	"company/internal/company"
	"company/internal/view"
)

// Host is the program around a server: its way into the office, and what the office's API
// does not give. Its methods are safe for concurrent use; errors are the company's own.
type Host interface {
	// Connect reaches the office as it is now. It makes none where there is none.
	Connect(ctx context.Context) (*client.Office, error)
	// Patch is the unified diff of a range.
	Patch(ctx context.Context, r view.Range) (view.Patch, error)
	// Log is the conversation of the run that an id names, as text.
	Log(ctx context.Context, o *client.Office, id string) (company.RunID, string, error)
	// PullPage is a pull request with its evidence, as text.
	PullPage(ctx context.Context, r view.PullRecord) (view.PullText, error)
	// Submit gives an instruction to the company at work, or starts one apart.
	Submit(ctx context.Context, s view.Submission) (Submitted, error)
	// GoOn starts a company apart that works on a task, where none is at work.
	GoOn(ctx context.Context, task company.TaskID) error
	// Wait returns when tasks have come to rest. When ctx ends first it returns its cause.
	Wait(ctx context.Context, ids []company.TaskID) error
}

// Submitted is a submission that a company has taken.
type Submitted struct {
	Task company.TaskID `json:"task"`
	Log  string         `json:"log,omitempty"` // of the process that was started for it; empty: none was
}

// Grants are what a client may do beside reading.
type Grants struct {
	Write   bool // submit, answer, tell, pause, resume, stop, cancel
	Approve bool // approve, reject
}
