package company

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Refused accesses of an agent are stored with its run: a blocked attempt is a fact about the agent that later readers
// of its work need. A hostile agent makes as many attempts as it likes. Therefore this file limits the record, not the
// reporter.

// Limits of the record of one run's refused accesses.
const (
	MaxRefusedKinds  = 12  // number of kinds
	MaxRefusedEvents = 12  // events of one kind; later ones are not counted
	MaxRefusedText   = 300 // bytes of a text
	maxRefusedTimes  = 1 << 40
)

// RefusedAccess is one kind of refused access of a run.
type RefusedAccess struct {
	Kind   string `json:"kind"`   // path, push, outside, …
	Times  int    `json:"times"`  // a lower bound once Events is MaxRefusedEvents
	Events int    `json:"events"` // number of events of this kind
	What   string `json:"what"`   // text of the first event
}

// Full reports whether further attempts are no longer counted.
func (r RefusedAccess) Full() bool { return r.Events >= MaxRefusedEvents }

// Often returns the count as text.
func (r RefusedAccess) Often() string {
	if r.Full() {
		return "at least " + Count(r.Times, "time")
	}
	return Count(r.Times, "time")
}

// Refused returns the runs with refused accesses.
func (t *Task) Refused() []*Run {
	return slices.DeleteFunc(t.sortedRuns(), func(r *Run) bool { return len(r.RefusedAccesses) == 0 })
}

// RecordRefusedAccess records that an agent tried a forbidden access. It does not end the run. It is accepted
// regardless of the run's holder, after the end of its task, and while the office is stopped.
type RecordRefusedAccess struct {
	Run   RunID
	Kind  string // lower case letters and _
	What  string // text from the agent; made plain and cut
	Times int    // since the last record of this kind
}

func (c RecordRefusedAccess) decide(s *State, meta Meta) ([]Event, error) {
	task, run, err := s.findRun(c.Run)
	switch {
	case err != nil:
		return nil, err
	case run.Fence == 0:
		return nil, E(EConflict, "run "+string(c.Run)+" has not started yet")
	case c.Times < 1 || c.Times > maxRefusedTimes || !IsRefusalKind(c.Kind):
		return nil, E(EInvalid, "invalid refused access")
	}
	index := slices.IndexFunc(run.RefusedAccesses, func(x RefusedAccess) bool { return x.Kind == c.Kind })
	if index < 0 && len(run.RefusedAccesses) >= MaxRefusedKinds || index >= 0 && run.RefusedAccesses[index].Full() {
		return nil, nil
	}
	return []Event{meta.newEvent(task.ID, run.Subtask, run.ID,
		&AccessRefused{AccessKind: c.Kind, What: plainLine(c.What, MaxRefusedText), Times: c.Times})}, nil
}

func IsRefusalKind(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// plainLine returns an untrusted text as one line of at most limit bytes, without hidden characters and characters that
// control a terminal.
func plainLine(text string, limit int) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		word := text[i : i+size]
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			word = " "
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			word = strings.Trim(strconv.QuoteToASCII(word), `"`)
		}
		if b.Len()+len(word) > limit-len("…") {
			return b.String() + "…"
		}
		b.WriteString(word)
		i += size
	}
	return b.String()
}

// AccessRefused records a security event: an agent tried a forbidden access, which was blocked completely.
type AccessRefused struct {
	AccessKind string `json:"of"`   // its kind
	What       string `json:"what"` // one plain line; if there were several attempts, the last one
	Times      int    `json:"times"`
}

var _ = registerKind[AccessRefused]()

func (*AccessRefused) Kind() string { return "access.refused" }
func (d *AccessRefused) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	run := *task.Runs[event.Run]
	run.RefusedAccesses = slices.Clone(run.RefusedAccesses)
	index := slices.IndexFunc(run.RefusedAccesses, func(x RefusedAccess) bool { return x.Kind == d.AccessKind })
	if index < 0 {
		index = len(run.RefusedAccesses)
		run.RefusedAccesses = append(run.RefusedAccesses, RefusedAccess{Kind: d.AccessKind, What: d.What})
	}
	run.RefusedAccesses[index].Events++
	run.RefusedAccesses[index].Times = min(maxRefusedTimes, run.RefusedAccesses[index].Times+d.Times)
	task.setRun(&run)
}
