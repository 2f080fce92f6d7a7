package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/agentrun/agenttools"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// Limits of the files that a ticket includes, in bytes.
const (
	maxBroughtFile = 8 << 10
	maxBrought     = 24 << 10 // of all
	minBrought     = 1 << 10  // remaining space below which no further file is included
)

// readLines reads lines of a file with the worker's own tool, so that the file counts as read.
type readLines func(context.Context, toolproto.ReadFileRequest) (toolproto.ReadFileResult, error)

// broughtFiles holds the context entries of a ticket: files from its branch, and notes.
type broughtFiles struct {
	Notes []string
	Files string // quoted
	seen  []agent.Seen
	shown []agent.Shown // files, or lines of them, that are shown in full
}

// bringFiles reads the files that a ticket names for its worker. An entry that is not a file, or whose file
// cannot be shown, becomes a note with the reason.
func bringFiles(ctx context.Context, entries []string, read readLines) (broughtFiles, error) {
	var b broughtFiles
	var w strings.Builder
	left := maxBrought
	for _, entry := range entries {
		contextFile, ok := company.ParseContext(entry)
		if !ok {
			b.Notes = append(b.Notes, entry)
			continue
		}
		if left < minBrought {
			b.Notes = append(b.Notes, entry+" (not shown: the files below fill the room)")
			continue
		}
		request := toolproto.ReadFileRequest{Path: contextFile.Path, Offset: contextFile.First}
		if contextFile.First > 0 {
			request.Limit = contextFile.Last - contextFile.First + 1
		}
		fileResult, err := read(ctx, request)
		var refusal *toolproto.Refusal
		switch {
		case errors.As(err, &refusal) && refusal.Kind == toolproto.KindNotFound && contextFile.Noted &&
			!strings.Contains(contextFile.Path, "/"):
			b.Notes = append(b.Notes, entry) // a text that begins with a dotted name
			continue
		case errors.As(err, &refusal):
			b.Notes = append(b.Notes, fmt.Sprintf("%s (not shown: %s)", entry, refusal.Message))
			continue
		case err != nil:
			return b, fmt.Errorf("read %s for the ticket: %w", contextFile.Path, err)
		}
		if contextFile.Noted {
			b.Notes = append(b.Notes, entry)
		}
		part := shortenFile(fileResult, min(left, maxBroughtFile))
		if len(part.Content) == len(fileResult.Content) {
			shown, err := describeRead(request, fileResult)
			if err != nil {
				return b, err
			}
			b.shown = append(b.shown, shown)
		}
		text := agent.Quote("shown_file", fmt.Sprintf("path=%q", fileResult.Path), part.PlainText())
		left -= len(text)
		w.WriteString(text)
		b.seen = append(b.seen, agent.Seen{Path: fileResult.Path, Digest: fileResult.Digest})
	}
	b.Files = w.String()
	return b, nil
}

// describeRead returns the tool call that would have read a file, with its answer.
func describeRead(request toolproto.ReadFileRequest, fileResult toolproto.ReadFileResult) (agent.Shown, error) {
	request.Path = fileResult.Path
	args, err := json.Marshal(request)
	if err != nil {
		return agent.Shown{}, company.E(company.EInternal, "the reading of a file cannot be described").Wrap(err)
	}
	return agent.Shown{Tool: agenttools.ReadFileName, Arguments: string(args), Text: fileResult.PlainText()}, nil
}

// shortenFile keeps whole lines up to limit bytes as shown, but at least one line.
func shortenFile(fileResult toolproto.ReadFileResult, limit int) toolproto.ReadFileResult {
	var end, lines, shown int
	for line := range bytes.Lines(fileResult.Content) {
		if shown += min(len(line), toolproto.ReadLine); shown > limit && lines > 0 {
			fileResult.Content = fileResult.Content[:end]
			fileResult.Lines = lines
			fileResult.Truncated = true
			break
		}
		end, lines = end+len(line), lines+1
	}
	return fileResult
}
