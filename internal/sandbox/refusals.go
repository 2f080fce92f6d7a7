package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/safetext"
)

// Refusal is something that a container tried and was refused: a security
// event.
type Refusal struct {
	company.RecordRefusedAccess
	// ID names a report that is booked: nothing else has the same one.
	ID string
	// Book says that it goes into the ledger. The others are only reported, and
	// a later booked one counts them.
	Book bool
	// Tell says that people see it now.
	Tell bool
}

// How many refusals are booked and shown one by one. After that only the powers
// of ten are: thousands of bad requests must not fill the ledger, the
// president's screen and the host's disk.
const (
	bookedEach = 4  // of one kind
	toldEach   = 64 // of all
)

// refusalLog counts what one sandbox is refused. A nil one counts nothing.
type refusalLog struct {
	id     string // of the sandbox
	run    company.RunID
	report func(Refusal)

	mu    sync.Mutex
	all   int
	kinds map[string]*refused
}

// refused is what there was of one kind.
type refused struct {
	times, open int // in all, and since the last that was booked
	last        string
}

func (s *Factory) newRefusalLog(o Spec) *refusalLog {
	report := s.Security
	if report == nil {
		report = func(Refusal) {}
	}
	return &refusalLog{id: fmt.Sprintf("%s/%d/%d", o.Run, o.Fence, s.benches.Add(1)), run: o.Run, report: report}
}

// add counts one more, and reports it. It may be called from many goroutines.
func (r *refusalLog) add(kind, what string) {
	if r == nil {
		return
	}
	what = safetext.EscapeLine(what, company.MaxRefusedText)
	r.mu.Lock()
	if r.kinds == nil {
		r.kinds = map[string]*refused{}
	}
	k := r.kinds[kind]
	if k == nil {
		k = &refused{}
		r.kinds[kind] = k
	}
	r.all++
	k.times++
	k.open++
	k.last = what
	n := Refusal{Book: k.times <= bookedEach || powerOfTen(k.times), Tell: r.all <= toldEach || powerOfTen(r.all)}
	r.fillDetails(&n, kind, k)
	r.mu.Unlock()
	r.report(n)
}

// fillDetails says what a refusal is of; with one that is booked all is counted.
func (r *refusalLog) fillDetails(n *Refusal, kind string, k *refused) {
	n.RecordRefusedAccess = company.RecordRefusedAccess{Run: r.run, Kind: kind, What: k.last, Times: 1}
	if n.Book {
		n.ID = fmt.Sprintf("refused %s %s %d", r.id, kind, k.times)
		n.Times, k.open = k.open, 0
	}
}

// close books the refusals that were only counted so far.
func (r *refusalLog) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	var rest []Refusal
	for kind, k := range r.kinds {
		if k.open > 0 {
			n := Refusal{Book: true}
			r.fillDetails(&n, kind, k)
			rest = append(rest, n)
		}
	}
	r.mu.Unlock()
	slices.SortFunc(rest, func(a, b Refusal) int { return strings.Compare(a.Kind, b.Kind) })
	for _, n := range rest {
		r.report(n)
	}
}

func powerOfTen(n int) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
