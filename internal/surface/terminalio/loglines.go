package terminalio

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// maxLogText limits the message and the attributes shown of a log record, in bytes.
const maxLogText = 1000

// lineHandler prints each log record as one line, between the lines of the feed.
type lineHandler struct {
	show   func(line string)
	prefix string // prefix of the names, from groups
	given  []string
}

// Enabled leaves conversations out, which are below this level.
func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelDebug
}

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
	// Escaped here, because it joins blanks and the feed formats the columns.
	said := safetext.EscapeLine(r.Message, maxLogText)
	given := safetext.EscapeLine(strings.Join(parts, " "), maxLogText)
	h.show(fmt.Sprintf("%s log     . %s%s  %s", r.Time.Format("15:04:05"), level, said, given))
	return nil
}

// attrText returns an attribute as name=value.
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

// printLogLine prints an escaped log line on stderr, cut to the terminal's width.
func (con *Console) printLogLine(line string) {
	style := con.Style(con.Err)
	line = strings.TrimRight(line, " ")
	if style.Width > 0 {
		line = termtext.Cut(line, style.Width)
	}
	_, _ = io.WriteString(con.Err, style.Paint(termtext.Dim, line)+"\n")
}
