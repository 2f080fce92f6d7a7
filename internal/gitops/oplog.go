package gitops

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// OpLog is a git.log: one line per git operation. Lines of many goroutines do
// not mix. A nil OpLog swallows everything.
type OpLog struct {
	mu  sync.Mutex
	w   io.Writer
	now func() time.Time
}

// NewOpLog writes to w, which the caller keeps and closes.
func NewOpLog(w io.Writer) *OpLog { return &OpLog{w: w, now: time.Now} }

// OpenOpLog appends to the git.log at path (runtime/runs/<run>/git.log),
// making its folder. Close it when the run has ended.
func OpenOpLog(path string) (*OpLog, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return NewOpLog(f), nil
}

// Close closes the file of an OpLog made by OpenOpLog.
func (l *OpLog) Close() error {
	if l == nil {
		return nil
	}
	if c, ok := l.w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// line writes one operation. A log that cannot be written must not stop the
// work that it describes, so write errors are dropped.
func (l *OpLog) line(op string, args []string, exit int, took time.Duration, stderr string) {
	if l == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s exit=%d took=%s", l.now().UTC().Format(time.RFC3339), op, exit, took.Round(time.Microsecond))
	if len(args) > 0 {
		fmt.Fprintf(&b, " args=%q", Mask(strings.Join(args, " ")))
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n"); first != "" {
		fmt.Fprintf(&b, " stderr=%q", Mask(first))
	}
	b.WriteByte('\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, b.String())
}

var masks = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`://[^/@\s]+@`), "://[MASKED:CREDENTIAL]@"},
	{regexp.MustCompile(`(?i)(authorization:\s*)(basic|bearer)\s+\S+`), "${1}[MASKED:AUTH_HEADER]"},
	{regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,})`), "[MASKED:GENERIC_SECRET]"},
	{regexp.MustCompile(`(?i)([?&](?:access_token|token|password|private_token)=)[^&\s]+`), "${1}[MASKED:GENERIC_SECRET]"},
}

// Mask replaces credentials in a line about git: the user part of URLs,
// authorization headers, tokens of the known forges.
func Mask(s string) string {
	for _, m := range masks {
		s = m.re.ReplaceAllString(s, m.with)
	}
	return s
}

type logKey struct{}

// WithLog makes every git operation under the context write its line to log,
// for operations that take no log of their own.
func WithLog(ctx context.Context, log *OpLog) context.Context {
	return context.WithValue(ctx, logKey{}, log)
}

// logOf is the log of the context, else the store's.
func (s *Store) logOf(ctx context.Context) *OpLog {
	if l, ok := ctx.Value(logKey{}).(*OpLog); ok && l != nil {
		return l
	}
	return s.cfg.Log
}
