package console

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"company/internal/safetext"
	"company/internal/screen"
)

// maxLogText is how much of a record's message, and of its attributes, a person is shown, in bytes.
const maxLogText = 1000

// lineHandler shows the log to a person: each record is one line between those of the feed.
type lineHandler struct {
	show   func(line string)
	prefix string // of the names, by groups
	given  []string
}

func (h *lineHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	parts := slices.Clone(h.given)
	r.Attrs(func(a slog.Attr) bool {
		parts = append(parts, h.attrText(a))
		return true
	})
	level := ""
	if r.Level > slog.LevelInfo {
		level = strings.ToLower(r.Level.String()) + ": "
	}
	// Escaped by itself: it joins blanks, and the columns are the feed's.
	said := safetext.EscapeLine(r.Message, maxLogText)
	given := safetext.EscapeLine(strings.Join(parts, " "), maxLogText)
	h.show(fmt.Sprintf("%s log     . %s%s  %s", r.Time.Format("15:04:05"), level, said, given))
	return nil
}

// attrText is an attribute as name=value.
func (h *lineHandler) attrText(a slog.Attr) string {
	return h.prefix + a.Key + "=" + a.Value.Resolve().String()
}

func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.given = slices.Clone(h.given)
	for _, a := range attrs {
		next.given = append(next.given, h.attrText(a))
	}
	return &next
}

func (h *lineHandler) WithGroup(name string) slog.Handler {
	next := *h
	next.prefix = h.prefix + name + "."
	return &next
}

// printLogLine prints a line of the log, escaped already, on stderr, as wide as the terminal.
func (con *Console) printLogLine(line string) {
	s := con.Style(con.Err)
	line = strings.TrimRight(line, " ")
	if s.Width > 0 {
		line = screen.Cut(line, s.Width)
	}
	_, _ = io.WriteString(con.Err, s.Paint(screen.Dim, line)+"\n")
}
