package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/agenttools"
	"company/internal/company"
	"company/internal/toolproto"
)

// Bounds of the files that a ticket brings along, in bytes.
const (
	maxBroughtFile = 8 << 10
	maxBrought     = 24 << 10 // of all
	minBrought     = 1 << 10  // of room, below which no file is begun
)

// readLines reads lines of a file as the worker's own tool does: the file counts as read.
type readLines func(context.Context, toolproto.ReadFileRequest) (toolproto.ReadFileResult, error)

// broughtFiles are the entries of a ticket's context: files as they stand on its branch, and
// notes.
type broughtFiles struct {
	notes []string
	files string // quoted
	seen  []agent.Seen
	shown []agent.Shown // files, or lines of them, that are not shortened
}

// bringFiles reads the files that a ticket names for its worker. An entry that is no file, or
// whose file cannot be shown, is a note, with the reason.
func bringFiles(ctx context.Context, entries []string, read readLines) (broughtFiles, error) {
	var b broughtFiles
	var w strings.Builder
	left := maxBrought
	for _, entry := range entries {
		f, ok := company.ParseContext(entry)
		if !ok {
			b.notes = append(b.notes, entry)
			continue
		}
		if left < minBrought {
			b.notes = append(b.notes, entry+" (not shown: the files below fill the room)")
			continue
		}
		request := toolproto.ReadFileRequest{Path: f.Path, Offset: f.First}
		if f.First > 0 {
			request.Limit = f.Last - f.First + 1
		}
		r, err := read(ctx, request)
		var refusal *toolproto.Refusal
		switch {
		case errors.As(err, &refusal) && refusal.Kind == toolproto.KindNotFound && f.Noted && !strings.Contains(f.Path, "/"):
			b.notes = append(b.notes, entry) // a text that begins with a dotted name
			continue
		case errors.As(err, &refusal):
			b.notes = append(b.notes, fmt.Sprintf("%s (not shown: %s)", entry, refusal.Message))
			continue
		case err != nil:
			return b, fmt.Errorf("read %s for the ticket: %w", f.Path, err)
		}
		if f.Noted {
			b.notes = append(b.notes, entry)
		}
		part := shortenFile(r, min(left, maxBroughtFile))
		if len(part.Content) == len(r.Content) {
			shown, err := describeRead(request, r)
			if err != nil {
				return b, err
			}
			b.shown = append(b.shown, shown)
		}
		text := agent.Quote("shown_file", fmt.Sprintf("path=%q", r.Path), part.PlainText())
		left -= len(text)
		w.WriteString(text)
		b.seen = append(b.seen, agent.Seen{Path: r.Path, Digest: r.Digest})
	}
	b.files = w.String()
	return b, nil
}

// describeRead is the call of the worker's own tool that answers what a file was read as.
func describeRead(request toolproto.ReadFileRequest, r toolproto.ReadFileResult) (agent.Shown, error) {
	request.Path = r.Path
	args, err := json.Marshal(request)
	if err != nil {
		return agent.Shown{}, company.E(company.EInternal, "the reading of a file cannot be described").Wrap(err)
	}
	return agent.Shown{Tool: agenttools.ReadFileName, Arguments: string(args), Text: r.PlainText()}, nil
}

// shortenFile leaves whole lines of at most so many bytes, as they are shown, and one at least.
func shortenFile(r toolproto.ReadFileResult, most int) toolproto.ReadFileResult {
	end, lines, shown := 0, 0, 0
	for line := range bytes.Lines(r.Content) {
		if shown += min(len(line), toolproto.ReadLine); shown > most && lines > 0 {
			r.Content, r.Lines, r.Truncated = r.Content[:end], lines, true
			break
		}
		end, lines = end+len(line), lines+1
	}
	return r
}

// writeBrought is the part of the first message about the entries of a ticket's context.
func (b broughtFiles) writeBrought() string {
	var w strings.Builder
	if len(b.notes) > 0 || b.files != "" {
		w.WriteString("\n## Read first\n")
	}
	for _, n := range b.notes {
		w.WriteString("- " + agent.JoinLines(n) + "\n")
	}
	if b.files != "" {
		w.WriteString("These files, as they are on your branch, count as read:\n" + b.files)
	}
	return w.String()
}
