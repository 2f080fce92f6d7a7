package company

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Refused accesses of an agent are kept with its run: a stopped attempt is a
// fact about the agent, and a later reader of its work has to know. A hostile
// agent makes as many attempts as it likes, so this file bounds the record, and
// not the reporter.

// Bounds of the record of one run's refused accesses.
const (
	MaxRefusedKinds  = 12  // kinds
	MaxRefusedEvents = 12  // events of one kind; what comes after them is not counted
	MaxRefusedText   = 300 // bytes of a text
	maxRefusedTimes  = 1 << 40
)

// RefusedAccess is what one run tried in one way, and did not get.
type RefusedAccess struct {
	Kind   string `json:"kind"`   // path, push, outside, …
	Times  int    `json:"times"`  // at least, once Events is MaxRefusedEvents
	Events int    `json:"events"` // that say so
	What   string `json:"what"`   // the first time
}

// Full says that further times are not counted any more.
func (r RefusedAccess) Full() bool { return r.Events >= MaxRefusedEvents }

// Often is the count as text.
func (r RefusedAccess) Often() string {
	if r.Full() {
		return "at least " + Count(r.Times, "time")
	}
	return Count(r.Times, "time")
}

// Refused are the runs that reached for what they may not have.
func (t *Task) Refused() []*Run {
	return slices.DeleteFunc(t.sortedRuns(), func(r *Run) bool { return len(r.RefusedAccesses) == 0 })
}

// RecordRefusedAccess records that an agent tried a forbidden access. It is no
// outcome: it is taken whatever the run's holder is by now, after the end of
// its task, and while the office is stopped.
type RecordRefusedAccess struct {
	Run   RunID
	Kind  string // lower case letters and _
	What  string // of the agent's making: made plain, and cut
	Times int    // since the last record of this kind
}

func (c RecordRefusedAccess) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.findRun(c.Run)
	switch {
	case err != nil:
		return nil, err
	case r.Fence == 0:
		return nil, E(EConflict, "nobody has worked in "+string(c.Run)+" yet")
	case c.Times < 1 || c.Times > maxRefusedTimes || !IsRefusalKind(c.Kind):
		return nil, E(EInvalid, "that is no refused access")
	}
	at := slices.IndexFunc(r.RefusedAccesses, func(x RefusedAccess) bool { return x.Kind == c.Kind })
	if at < 0 && len(r.RefusedAccesses) >= MaxRefusedKinds || at >= 0 && r.RefusedAccesses[at].Full() {
		return nil, nil
	}
	return []Event{m.newEvent(t.ID, r.Subtask, r.ID, &AccessRefused{AccessKind: c.Kind, What: plainLine(c.What, MaxRefusedText), Times: c.Times})}, nil
}

func IsRefusalKind(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// plainLine is a text of others as one line of at most limit bytes in which
// nothing is hidden and nothing steers a terminal.
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

// AccessRefused says that an agent reached for what it may not have: a security
// event. Nothing of it happened.
type AccessRefused struct {
	AccessKind string `json:"of"`   // its kind
	What       string `json:"what"` // one plain line; of several times the last
	Times      int    `json:"times"`
}

var _ = registerKind[AccessRefused]()

func (*AccessRefused) Kind() string { return "access.refused" }
func (d *AccessRefused) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	r := *t.Runs[e.Run]
	r.RefusedAccesses = slices.Clone(r.RefusedAccesses)
	at := slices.IndexFunc(r.RefusedAccesses, func(x RefusedAccess) bool { return x.Kind == d.AccessKind })
	if at < 0 {
		at = len(r.RefusedAccesses)
		r.RefusedAccesses = append(r.RefusedAccesses, RefusedAccess{Kind: d.AccessKind, What: d.What})
	}
	r.RefusedAccesses[at].Events++
	r.RefusedAccesses[at].Times = min(maxRefusedTimes, r.RefusedAccesses[at].Times+d.Times)
	t.setRun(&r)
}
