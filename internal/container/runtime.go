package container

import (
	"context"
	"io"
	"time"
)

// Runtime starts and removes containers. All methods may be called by many
// goroutines. Errors are *company.Error: EDocker (absent, refusing or too
// slow), EPolicy (the made container differs from the policy), EInvalid (the
// spec), EImage (the image is not there), EConflict (the name is taken).
type Runtime interface {
	// Kind is the name of the driver: dod.
	Kind() string
	// Start creates a container, compares the daemon's container with the
	// policy, attaches to its three streams, and starts it. ctx bounds the
	// start only: when it ends first, the container is killed and removed. Once
	// started, a container lives until Remove (or Close), whatever happens to
	// ctx: the caller defers Remove.
	Start(ctx context.Context, spec Spec) (Container, error)
	// List is every container with our labels of this office, in any state.
	List(ctx context.Context, office string) ([]Info, error)
	// Remove kills and removes the container with this id or name if it
	// carries exactly the wanted labels, else EPolicy. A container that is
	// not there is no error.
	Remove(ctx context.Context, id string, want Labels) error
	// Sweep removes every container of the office for which keep is false
	// and tells which. It goes on after an error and returns the first.
	// Call it only while holding the office's lock.
	Sweep(ctx context.Context, office string, keep func(Info) bool) (removed []Info, err error)
	// Check gathers the facts that doctor shows. The error is for a daemon
	// that does not answer; whatever else is wrong is a fact.
	Check(ctx context.Context) ([]Fact, error)
	// Close kills and removes the containers that this Runtime started and
	// that are still there, and lets go of the daemon. It waits for all
	// goroutines of the Runtime. Calling it again does nothing.
	Close() error
}

// Container is one started container.
type Container interface {
	ID() string
	// Pipe is the container's stdin (Write) and stdout (Read). It also has
	// CloseWrite() error, which gives the container end of file and keeps
	// stdout open. Close ends both ways at once, and unblocks Read and
	// Write. Stderr is put aside while stdout is being read. One reader and
	// one writer at a time.
	Pipe() io.ReadWriteCloser
	// Output copies stdout and stderr to the writers until the container
	// closes them; it is used instead of reading Pipe. The writers hold the
	// container back when they are slow, and end the copy by an error: cap
	// by counting, not by failing.
	Output(stdout, stderr io.Writer) error
	// Stderr is the end of what came on stderr so far, at most 8 KiB. It is
	// written by the container: for people, never for decisions.
	Stderr() string
	// Wait blocks until the container has exited. It may be called by many.
	// When ctx ends first it returns an error and the container runs on.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends all processes at once. Killing twice, or a container that
	// is gone, is no error.
	Kill(ctx context.Context) error
	// Remove kills and removes the container and frees what the host holds
	// for it. It does its work even when ctx is over, within a time limit
	// of its own, and may be repeated.
	Remove(ctx context.Context) error
}

// Exit is how a container ended, as the daemon tells it.
type Exit struct {
	Code      int  // 137 for a killed one
	OOMKilled bool // the memory limit was hit: not a verdict on the work
	// Input is the error with which writing the container's input ended before all of it
	// was written. The container may have ended first, or the stream broke.
	Input error
}

// Info is one container in a list.
type Info struct {
	ID      string
	Name    string
	Image   string // image id
	Labels  Labels
	State   string // created, running, exited, …
	Created time.Time
}

// Level says how a fact is to be taken.
type Level string

const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Fact is one line of doctor.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Level Level  `json:"level"`
	Hint  string `json:"hint,omitempty"` // what to do, when Level is not OK
}
