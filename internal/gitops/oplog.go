package gitops

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"
	"company/internal/lib/secretscan"
)

// OpLog writes a git.log: one JSON line per git operation. Untrusted text, such as branch names and git's messages,
// only appears in JSON strings. It is safe for concurrent use. A nil OpLog discards everything.
type OpLog struct {
	mu  sync.Mutex
	w   io.Writer
	now func() time.Time
}

// NewOpLog returns a log that writes to w. Its Close closes w if that is an io.Closer.
func NewOpLog(w io.Writer) *OpLog { return &OpLog{w: w, now: time.Now} }

// Operation is one line of a git.log (GIT-3).
type Operation struct {
	Time   time.Time `json:"time"`
	Op     string    `json:"op"`
	Task   string    `json:"task_id,omitempty"`
	Runs   []string  `json:"run_ids,omitempty"` // the runs whose work this is; several where they are merged together
	Exit   int       `json:"exit"`              // git's exit code; -1 if it was killed
	TookUS int64     `json:"took_us"`           // microseconds
	Args   []string  `json:"args,omitempty"`
	Stderr string    `json:"stderr,omitempty"` // the first line
}

// Close closes the underlying writer if it is an io.Closer.
func (l *OpLog) Close() error {
	if l == nil {
		return nil
	}
	if c, ok := l.w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Record writes an operation that was carried out inside a container, where no log is written and no time is
// measured. A nil log discards it.
func (l *OpLog) Record(op string, args ...string) {
	l.writeLine(subject{}, op, args, 0, 0, "")
}

// writeLine writes one operation. It ignores write errors, because a failing log must not stop the work that it
// describes.
func (l *OpLog) writeLine(of subject, op string, args []string, exit int, took time.Duration, stderr string) {
	if l == nil {
		return
	}
	first, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	operation := Operation{Time: l.now().UTC().Truncate(time.Second), Op: op, Task: of.task, Runs: of.runs, Exit: exit,
		TookUS: took.Microseconds(), Stderr: Mask(first)}
	for _, a := range args {
		operation.Args = append(operation.Args, Mask(a))
	}
	text, err := safedir.Line(operation)
	if err != nil {
		return // as below
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(text)
}

var loginInURL = lazyregexp.New(`://[^/@\s]+@`)

// forms knows the forms of secrets, and none of an office.
var forms *secretscan.Scanner

// Mask replaces credentials in a text about git: what other texts have, too, and everything before the @ of a URL.
func Mask(s string) string {
	return loginInURL.ReplaceAllString(forms.Mask(s), "://[MASKED:GENERIC_SECRET]@")
}

type (
	logKey     struct{}
	subjectKey struct{}
)

// subject is what an operation is for.
type subject struct {
	task string
	runs []string
}

// WithSubject returns a context in which the line of every git operation names the task and the runs that it is for.
func WithSubject(ctx context.Context, task string, runs ...string) context.Context {
	return context.WithValue(ctx, subjectKey{}, subject{task, runs})
}

// subjectOf returns the subject of a context. It is empty for work that is for no task.
func subjectOf(ctx context.Context) subject {
	of, _ := ctx.Value(subjectKey{}).(subject)
	return of
}

// WithLog returns a context in which every git operation writes its line to log. It is for operations without a log
// parameter.
func WithLog(ctx context.Context, log *OpLog) context.Context {
	return context.WithValue(ctx, logKey{}, log)
}

// logOf returns the log of the context, else the store's.
func (s *Store) logOf(ctx context.Context) *OpLog {
	if l, ok := ctx.Value(logKey{}).(*OpLog); ok && l != nil {
		return l
	}
	return s.cfg.Log
}
