package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/safetext"
	"company/internal/screen"
)

// Bounds of a call's output that is shown while it is under way.
const (
	LiveLines    = 12  // the newest lines
	maxLiveWidth = 200 // bytes of a line
)

// LiveOutput is the newest output of a call under way. It goes to the followers of the run
// at that moment, and stands in no record: the result does, when the call ends.
type LiveOutput struct {
	ID    string    `json:"id"` // of the call
	Name  string    `json:"name"`
	About string    `json:"about"` // its main argument
	Since time.Time `json:"since"`
	Lines []string  `json:"lines"` // the newest last, escaped; none: the call is over
}

// RenderLines shows the output as it is now: what runs for how long, and what it printed.
func (o LiveOutput) RenderLines(now time.Time) []string {
	head := strings.TrimSpace(o.Name + " " + o.About)
	out := []string{o.Since.Local().Format("15:04:05") + "  > " + head + "  " + screen.FormatAge(now.Sub(o.Since))}
	for _, line := range o.Lines {
		out = append(out, "  "+line)
	}
	return out
}

// AddOutput takes the next entry of a stream that is followed into the outputs of the calls
// under way, the oldest first: a newer one replaces the older of its call, and its end or its
// result takes it out. The list before stays as it is.
func AddOutput(outputs []LiveOutput, e TranscriptEntry) []LiveOutput {
	id := ""
	switch {
	case e.Output != nil:
		id = e.Output.ID
	case e.ToolCall != nil:
		id = e.ToolCall.ID
	}
	at := slices.IndexFunc(outputs, func(o LiveOutput) bool { return o.ID == id })
	goesOn := e.Output != nil && len(e.Output.Lines) > 0
	switch {
	case at < 0 && goesOn:
		return append(slices.Clone(outputs), *e.Output)
	case at < 0:
		return outputs
	}
	next := slices.Clone(outputs)
	if !goesOn {
		return slices.Delete(next, at, at+1)
	}
	next[at] = *e.Output
	return next
}

// outputKey is where the context of a call holds what takes its output.
type outputKey struct{}

// OutputOf takes the output of the call that ctx belongs to while it is under way: each time
// the newest part of it. Nil: it is not asked for.
func OutputOf(ctx context.Context) func(recent string) {
	take, _ := ctx.Value(outputKey{}).(func(string))
	return take
}

// passOutput has the output of a call passed on. end is called when the call is over: what
// comes later is of no use.
func (r *runner) passOutput(ctx context.Context, j *toolJob, since time.Time) (_ context.Context, end func()) {
	if r.cfg.OnOutput == nil {
		return ctx, func() {}
	}
	o := LiveOutput{ID: j.ID, Name: safetext.EscapeLine(j.Name, 64), About: j.showArguments(), Since: since}
	var mu sync.Mutex
	told, over := false, false
	take := func(recent string) {
		mu.Lock()
		defer mu.Unlock()
		if lines := lastLines(recent); !over && len(lines) > 0 {
			told, o.Lines = true, lines
			r.cfg.OnOutput(o)
		}
	}
	return context.WithValue(ctx, outputKey{}, take), func() {
		mu.Lock()
		defer mu.Unlock()
		if over = true; told {
			o.Lines = nil
			r.cfg.OnOutput(o)
		}
	}
}

// lastLines are the newest lines of an output, safe to show and bounded. Of a line that was
// drawn again and again in its place, as a bar of progress is, the newest drawing is it.
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
