package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Refusal is an attempt of a container that was refused, a security event.
type Refusal struct {
	company.RecordRefusedAccess
	// ID identifies a booked report uniquely.
	ID string
	// Book means that it goes into the ledger. Other refusals are only reported, and the next booked one counts
	// them.
	Book bool
	// Tell means that people see it now.
	Tell bool
}

// Numbers of refusals that are booked and shown individually. After that, only every power of ten is. Thousands
// of bad requests must not fill the ledger, the president's screen and the host's disk.
const (
	bookedEach = 4  // of one kind
	toldEach   = 64 // of all
)

// refusalLog counts the refusals of one sandbox. A nil refusalLog counts none.
type refusalLog struct {
	id     string // of the sandbox
	run    company.RunID
	report func(Refusal)

	mu    sync.Mutex
	all   int
	kinds map[string]*refused
}

// refused counts the refusals of one kind.
type refused struct {
	times, open int // in all, and since the last booked one
	last        string
}

func (s *Factory) newRefusalLog(spec Spec) *refusalLog {
	report := s.Security
	if report == nil {
		report = func(Refusal) {}
	}
	return &refusalLog{id: fmt.Sprintf("%s/%d/%d", spec.Run, spec.Fence, s.benches.Add(1)), run: spec.Run, report: report}
}

// add counts one more refusal and reports it. It is safe for concurrent use.
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
	refusal := Refusal{Book: k.times <= bookedEach || powerOfTen(k.times), Tell: r.all <= toldEach || powerOfTen(r.all)}
	r.fillDetails(&refusal, kind, k)
	r.mu.Unlock()
	r.report(refusal)
}

// fillDetails sets the kind, text and count of a refusal. A booked refusal includes all that were not booked
// before.
func (r *refusalLog) fillDetails(refusal *Refusal, kind string, k *refused) {
	refusal.RecordRefusedAccess = company.RecordRefusedAccess{Run: r.run, Kind: kind, What: k.last, Times: 1}
	if refusal.Book {
		refusal.ID = fmt.Sprintf("refused %s %s %d", r.id, kind, k.times)
		refusal.Times, k.open = k.open, 0
	}
}

// close books refusals that were only counted so far.
func (r *refusalLog) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	var rest []Refusal
	for kind, refused := range r.kinds {
		if refused.open > 0 {
			refusal := Refusal{Book: true}
			r.fillDetails(&refusal, kind, refused)
			rest = append(rest, refusal)
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
