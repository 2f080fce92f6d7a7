package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Limits of the output that is shown while a call runs.
const (
	LiveLines    = 12  // the newest lines
	maxLiveWidth = 200 // bytes of a line
)

// LiveOutput is the newest output of a running call. It goes to the current followers of the run and is not
// recorded. The result is recorded when the call ends.
type LiveOutput struct {
	ID    string    `json:"id"` // of the call
	Name  string    `json:"name"`
	About string    `json:"about"` // its main argument
	Since time.Time `json:"since"`
	Lines []string  `json:"lines"` // newest last, escaped; no lines mean that the call ended
}

// RenderLines formats the output as of now: the call, its duration, and its newest lines.
func (o LiveOutput) RenderLines(now time.Time) []string {
	head := strings.TrimSpace(o.Name + " " + o.About)
	out := []string{o.Since.Local().Format("15:04:05") + "  > " + head + "  " + termtext.FormatAge(now.Sub(o.Since))}
	for _, line := range o.Lines {
		out = append(out, "  "+line)
	}
	return out
}

// AddOutput applies the next entry of a followed stream to the outputs of running calls, oldest first. A newer
// output replaces the older one of its call. The call's end or result removes it. The given slice is not
// changed.
func AddOutput(outputs []LiveOutput, entry TranscriptEntry) []LiveOutput {
	id := ""
	switch {
	case entry.Output != nil:
		id = entry.Output.ID
	case entry.ToolCall != nil:
		id = entry.ToolCall.ID
	}
	index := slices.IndexFunc(outputs, func(o LiveOutput) bool { return o.ID == id })
	goesOn := entry.Output != nil && len(entry.Output.Lines) > 0
	switch {
	case index < 0 && goesOn:
		return append(slices.Clone(outputs), *entry.Output)
	case index < 0:
		return outputs
	}
	next := slices.Clone(outputs)
	if !goesOn {
		return slices.Delete(next, index, index+1)
	}
	next[index] = *entry.Output
	return next
}

// outputKey is the context key of the function that takes a call's output.
type outputKey struct{}

// OutputOf returns the function that takes the newest output of the call that ctx belongs to. It returns nil if
// the output is not wanted.
func OutputOf(ctx context.Context) func(recent string) {
	take, _ := ctx.Value(outputKey{}).(func(string))
	return take
}

// passOutput forwards the output of a call to OnOutput. end must be called when the call is over, and later
// output is dropped.
func (r *runner) passOutput(ctx context.Context, j *toolJob, since time.Time) (_ context.Context, end func()) {
	if r.cfg.OnOutput == nil {
		return ctx, func() {}
	}
	liveOutput := LiveOutput{ID: j.ID, Name: safetext.EscapeLine(j.Name, 64), About: j.showArguments(), Since: since}
	var mu sync.Mutex
	told, over := false, false
	take := func(recent string) {
		mu.Lock()
		defer mu.Unlock()
		if lines := lastLines(recent); !over && len(lines) > 0 {
			told, liveOutput.Lines = true, lines
			r.cfg.OnOutput(liveOutput)
		}
	}
	return context.WithValue(ctx, outputKey{}, take), func() {
		mu.Lock()
		defer mu.Unlock()
		if over = true; told {
			liveOutput.Lines = nil
			r.cfg.OnOutput(liveOutput)
		}
	}
}

// lastLines returns the newest lines of an output, escaped and bounded. For a line that was redrawn in place,
// such as a progress bar, it keeps the newest drawing.
func lastLines(recent string) []string {
	lines := strings.Split(strings.TrimRight(recent, "\r\n"), "\n")
	lines = lines[max(0, len(lines)-LiveLines):]
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		line = strings.TrimRight(line, "\r \t")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		line = strings.ReplaceAll(safetext.Escape(safetext.Head(line, 4*maxLiveWidth)), "\t", "    ")
		out = append(out, safetext.Cut(line, maxLiveWidth))
	}
	if strings.TrimSpace(strings.Join(out, "")) == "" {
		return nil
	}
	return out
}
