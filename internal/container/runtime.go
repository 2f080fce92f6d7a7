package container

import (
	"context"
	"io"
	"time"
)

// Runtime starts and removes containers. All methods are safe for concurrent use. Errors are
// *company.Error: EDocker (the daemon is absent, refuses or is too slow), EPolicy (the created
// container differs from the policy), EInvalid (invalid spec), EImage (the image is missing),
// EConflict (the name is taken).
type Runtime interface {
	// Kind returns the name of the driver: dod.
	Kind() string
	// Start creates a container, compares the daemon's container with the policy, attaches to its
	// three streams, and starts it. ctx applies to the start only: if it ends first, the container is
	// killed and removed. A started container lives until Remove (or Close) even if ctx ends, so the
	// caller must defer Remove.
	Start(ctx context.Context, spec Spec) (Container, error)
	// List returns all containers with our labels of this office, in any state.
	List(ctx context.Context, office string) ([]Info, error)
	// Remove kills and removes the container with this id or name. It returns EPolicy unless the
	// container has exactly the labels want. A missing container is not an error.
	Remove(ctx context.Context, id string, want Labels) error
	// Sweep removes every container of the office for which keep returns false, and returns the
	// removed ones. It continues after an error and returns the first. Call it only while holding the
	// office's lock.
	Sweep(ctx context.Context, office string, keep func(Info) bool) (removed []Info, err error)
	// Check collects the facts that doctor shows. It returns an error only if the daemon does not
	// answer. All other problems are facts.
	Check(ctx context.Context) ([]Fact, error)
	// Close kills and removes the remaining containers that this Runtime started, and disconnects from
	// the daemon. It waits for all goroutines of the Runtime. Repeated calls have no effect.
	Close() error
}

// Container is one started container.
type Container interface {
	ID() string
	// Pipe returns the container's stdin (Write) and stdout (Read). It also has CloseWrite() error,
	// which sends end of file to the container and keeps stdout open. Close ends both directions at
	// once and unblocks Read and Write. Stderr is buffered while stdout is being read. Only one reader
	// and one writer may use it at a time.
	Pipe() io.ReadWriteCloser
	// Output copies stdout and stderr to the writers until the container closes them. Use it instead
	// of reading Pipe. Slow writers block the container, and an error of a writer ends the copy. To
	// limit the output, count and discard instead of returning an error.
	Output(stdout, stderr io.Writer) error
	// Stderr returns the end of stderr so far, at most 8 KiB. The container controls the text: show it
	// to people, but never base decisions on it.
	Stderr() string
	// Wait blocks until the container has exited. Several goroutines may call it. If ctx ends first,
	// Wait returns an error and the container keeps running.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends all processes at once. Killing a container twice, or one that is gone, is not an
	// error.
	Kill(ctx context.Context) error
	// Remove kills and removes the container and frees its resources on the host. It works even if ctx
	// has ended, within a time limit of its own, and may be repeated.
	Remove(ctx context.Context) error
}

// Exit is the daemon's report of how a container ended.
type Exit struct {
	Code      int  // 137 for a killed one
	OOMKilled bool // the memory limit was reached, so the exit does not judge the work
	// Input is the error that ended writing the container's input early. The container may have exited
	// first, or the stream broke.
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

// Level is the severity of a fact.
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
