package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"company/internal/agent"
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

const (
	fewHits     = 20      // hits from which their number is shown before the lines
	maxSearched = 1 << 20 // bytes; larger files are data and are not searched
)

func (r *readTools) searchTool() agent.Tool {
	type args struct{ Pattern, Glob string }
	return newTool("search", "Find lines that match a regular expression (RE2).",
		`{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{"pattern":{"type":"string","minLength":1},"glob":{"type":"string"}}}`,
		true, func(ctx context.Context, a args) (agent.Result, error) {
			pattern, err := toolproto.CompilePattern(a.Pattern)
			if err != nil {
				return refusalResult(err.Error()), nil
			}
			entries, bad, err := r.matchingFiles(ctx, a.Glob)
			if err != nil || bad != nil {
				return resultOrZero(bad), err
			}
			found, err := r.findHits(ctx, pattern, entries)
			var tooLong *lineError
			switch {
			case errors.As(err, &tooLong):
				return refusalResult(tooLong.Error()), nil
			case err != nil:
				return agent.Result{}, err
			}
			if found.Hits == 0 {
				return agent.Result{Text: "no matches"}, nil
			}
			return agent.Result{Text: found.CountedText(fewHits)}, nil
		})
}

// errEnough stops a search that has found enough.
var errEnough = errors.New("enough matches")

// lineError is the error of a line in which a pattern cannot be searched.
type lineError struct {
	place string
	err   error
}

func (e *lineError) Error() string { return e.place + ": " + e.err.Error() }

// findHits searches files in order, and escapes their paths. If ctx ends, it stops after the current line.
func (r *readTools) findHits(
	ctx context.Context, pattern toolproto.Pattern, entries []gitops.Entry,
) (toolproto.SearchResult, error) {
	entries = slices.Clone(entries)
	entries = slices.DeleteFunc(entries, func(e gitops.Entry) bool {
		return e.Mode != gitops.ModeFile && e.Mode != gitops.ModeExec || e.Size > maxSearched
	})
	var hits toolproto.Hits
	err := r.mirror.ReadFiles(ctx, entries, func(entry gitops.Entry, text []byte) error {
		if isBinary(text) {
			return nil
		}
		path := safetext.EscapeLine(entry.Path, maxLine)
		n := 0
		for line := range bytes.Lines(text) {
			n++
			line = bytes.TrimRight(line, "\r\n") // so that $ matches the end of the line
			switch matches, err := pattern.Match(line); {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				return &lineError{fmt.Sprintf("%s:%d", path, n), err}
			case matches && hits.Add(path, n, safetext.Cut(string(line), maxLine)):
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return hits.Result(len(entries)), err
}
