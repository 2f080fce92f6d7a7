package replay

import (
	"context"
	"fmt"
	"sync"
	"time"

	"company/internal/company"
)

// Trees tells the tree of a commit, of the record or of the replay. An error says that the
// commit is not there any more.
type Trees interface {
	RecordedTree(ctx context.Context, commit company.OID) (company.OID, error)
	ReplayedTree(ctx context.Context, commit company.OID) (company.OID, error)
}

// Director brings the commands of a replay into the order of its record, answers for the
// president as it is recorded, and compares the outcomes. It is an
// orchestrator.Pacer.
type Director struct {
	record   *Record
	trees    Trees
	progress func(line string)

	otherPrompts bool // set before the replay begins

	pacing sync.Mutex // one command at a time is tried and decided

	mu       sync.Mutex // guards what follows; never held over anything slow
	changed  chan struct{}
	next     int // of the steps
	over     bool
	report   Report
	requests map[company.RunID]int
	commits  map[company.OID]company.OID    // of the record, where the replay's is another with the same tree
	heads    map[company.OID]*company.State // the newest state with this integration head, of the replay
	done     chan struct{}                  // closed when it is over
	troubles map[company.ApprovalID]int     // in the order in which they came, from 1
	moved    time.Time                      // when something last happened
}

// NewDirector makes the director of a replay. progress gets a line for each step that was
// done; it must be quick.
func NewDirector(r *Record, trees Trees, progress func(line string)) *Director {
	d := &Director{
		record: r, trees: trees, progress: progress, changed: make(chan struct{}), done: make(chan struct{}), requests: map[company.RunID]int{}, troubles: map[company.ApprovalID]int{},
		commits: map[company.OID]company.OID{}, heads: map[company.OID]*company.State{}, moved: time.Now(),
		report: Report{SchemaVersion: 1, Task: r.Task, Runs: []Run{}, Checks: []Check{}, Merges: []Merge{}, Warnings: []Warning{}, Notes: append([]string{}, r.notes...)},
	}
	if len(r.steps) == 0 {
		d.over = true
		close(d.done)
	}
	return d
}

// OtherPrompt is the warning about a message that the program itself writes now in another
// way: the record is older than a prompt.
const OtherPrompt = "the program writes another message here"

// OtherSettings is the warning about a request whose tools or settings differ while its messages
// are the recorded ones: the record is older than a tool.
const OtherSettings = "the messages are the recorded ones, the tools or the settings of the request are not"

// AllowOtherPrompts has messages that the program itself writes differ with a warning: the
// replies are the recorded ones all the same. It is for a record that is older than a prompt, and
// is called before the replay begins.
func (d *Director) AllowOtherPrompts() { d.otherPrompts = true }

// Done is closed when all of the record was done again, or a divergence was found.
func (d *Director) Done() <-chan struct{} { return d.done }

// Idle is how long nothing has happened; next is the step that is waited for.
func (d *Director) Idle() (since time.Duration, next string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next < len(d.record.steps) {
		next = d.record.steps[d.next].String()
	}
	return time.Since(d.moved), next
}

// MeetTrouble takes a failure of the outside that the president is asked about: a model
// that refused does so again in a replay. known says that the record has as many, again
// that the president had it tried again.
func (d *Director) MeetTrouble(id company.ApprovalID) (known, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.troubles[id] == 0 {
		d.troubles[id] = len(d.troubles) + 1
	}
	return d.troubles[id] <= d.record.troubles, d.troubles[id] <= d.record.retries
}

// Report is what came of the replay so far.
func (d *Director) Report() *Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.report
	r.Same = r.Divergence == nil && d.next == len(d.record.steps)
	return &r
}

// Pace has a command decided when the record has it next. A command that nothing hangs on
// is decided at once.
func (d *Director) Pace(ctx context.Context, actor string, c company.Command, view func() *company.State,
	commit func(company.Command, time.Time) ([]company.Event, error)) ([]company.Event, error) {
	for {
		events, wait, err := d.tryCommand(ctx, actor, c, view, commit)
		if wait == nil {
			return events, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryCommand decides a command if its turn has come; otherwise wait ends when the next
// step was done.
func (d *Director) tryCommand(ctx context.Context, actor string, c company.Command, view func() *company.State,
	commit func(company.Command, time.Time) ([]company.Event, error)) (events []company.Event, wait <-chan struct{}, err error) {
	d.pacing.Lock()
	defer d.pacing.Unlock()
	s := view()
	c = d.settleConflict(d.settleClaim(c))
	drafts, err := company.Decide(s, company.Meta{ID: "trial", Actor: actor, Now: s.Time}, c)
	if err != nil || len(drafts) == 0 {
		events, err = commit(c, time.Time{})
		return events, nil, err
	}
	places := d.placesOf(s, drafts)
	d.mu.Lock()
	over, wait, at := d.over, d.changed, time.Time{}
	turn := turnNow
	if len(places) > 0 {
		turn, at = d.turnOf(places[0])
	}
	d.mu.Unlock()
	switch {
	case over || isDelivery(drafts):
		return nil, nil, company.E(company.EStopped, "the replay has come to its end")
	case turn == turnLater:
		return nil, wait, nil
	case turn == turnNever:
		return nil, nil, d.reportDivergence(Divergence{Run: places[0].run, Subtask: places[0].subtask, What: "the replay has " + places[0].String() + ", the record has " + d.nextName() + " next"})
	}
	if events, err = commit(c, at); err != nil {
		return nil, nil, err
	}
	// The effect that the command came of may be over with it, and its context with that.
	return events, nil, d.noteEvents(context.WithoutCancel(ctx), view(), events)
}

// isDelivery says whether events are of the delivery, which is not replayed.
func isDelivery(drafts []company.Event) bool {
	switch drafts[0].Kind {
	case "pr.intended", "pr.opened", "pr.held":
		return true
	}
	return false
}

// turn is when a step may be done.
type turn int

const (
	turnNow turn = iota
	turnLater
	turnNever
)

// turnOf says when a place may be filled, and the time that it bears. The caller holds mu.
func (d *Director) turnOf(p place) (turn, time.Time) {
	for i, s := range d.record.steps[d.next:] {
		if s.place == p {
			if i == 0 {
				return turnNow, s.event.Time
			}
			return turnLater, time.Time{}
		}
	}
	if isFirstAlone(p.kind) {
		return turnNow, time.Time{} // a run that is offered or claimed again
	}
	return turnNever, time.Time{}
}

// placesOf are the places of those events that the result hangs on.
func (d *Director) placesOf(s *company.State, events []company.Event) []place {
	var out []place
	for _, e := range events {
		if p, ok := d.placeNow(s, e); ok {
			out = append(out, p)
		}
	}
	return out
}

// placeNow is the place of an event of the replay.
func (d *Director) placeNow(s *company.State, e company.Event) (place, bool) {
	data, err := company.Decode(e)
	if err != nil {
		return place{}, false
	}
	p, ok := placeAmong(e, data, func(id company.ApprovalID) (company.ApprovalOpened, bool) {
		a := s.Approvals[id]
		if a == nil {
			return company.ApprovalOpened{}, false
		}
		return company.ApprovalOpened{ID: a.ID, Key: a.Key, AskKind: a.Kind}, true
	})
	return p, ok
}

// settleClaim has an agent of the company claim its run from the commit that the record
// has: the integration branch may have moved since.
func (d *Director) settleClaim(c company.Command) company.Command {
	claim, ok := c.(company.Claim)
	if !ok {
		return c
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.record.steps {
		if was, ok := s.data.(*company.RunClaimed); ok && s.run == claim.Run && was.Role != company.Worker {
			claim.From = d.commitNow(was.From)
		}
	}
	return claim
}

// commitNow is the replay's commit for one of the record. The caller holds mu.
func (d *Director) commitNow(recorded company.OID) company.OID {
	if now, ok := d.commits[recorded]; ok {
		return now
	}
	return recorded
}

// noteEvents compares the decided events with the record, and lets the next step be done.
func (d *Director) noteEvents(ctx context.Context, s *company.State, events []company.Event) error {
	if t := s.Tasks[d.record.Task]; t != nil {
		d.mu.Lock()
		d.heads[t.Head] = s
		d.moved = time.Now()
		d.mu.Unlock()
	}
	for _, e := range events {
		p, ok := d.placeNow(s, e)
		if !ok {
			continue
		}
		d.mu.Lock()
		if turn, _ := d.turnOf(p); turn != turnNow || d.record.steps[d.next].place != p {
			again := isFirstAlone(p.kind) && turn == turnNow
			d.mu.Unlock()
			if again {
				continue
			}
			return d.reportDivergence(Divergence{Run: p.run, Subtask: p.subtask, What: "the replay has " + p.String() + ", the record has " + d.nextName() + " next"})
		}
		was := d.record.steps[d.next]
		d.mu.Unlock()
		data, err := company.Decode(e)
		if err != nil {
			return d.reportDivergence(Divergence{Run: p.run, Subtask: p.subtask, What: err.Error()})
		}
		if err := d.compareStep(ctx, was, data); err != nil {
			return err
		}
		d.progress(p.String())
		d.mu.Lock()
		d.goOn()
		d.mu.Unlock()
	}
	return nil
}

// goOn goes to the next step. The caller holds mu.
func (d *Director) goOn() {
	d.next++
	close(d.changed)
	d.changed = make(chan struct{})
	if d.next == len(d.record.steps) && !d.over {
		d.over = true
		close(d.done)
	}
}

// nextName names the step that is to come.
func (d *Director) nextName() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next >= len(d.record.steps) {
		return "nothing"
	}
	return d.record.steps[d.next].String()
}

// reportDivergence records the first divergence, ends the replay, and gives the error.
func (d *Director) reportDivergence(v Divergence) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.report.Divergence == nil && !d.over {
		d.report.Divergence = &v
	}
	if !d.over {
		d.over = true
		close(d.done)
	}
	return company.E(company.EStopped, "the replay has diverged").Because(v.Where() + v.What)
}

func (d *Director) addWarning(w Warning) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.report.Warnings) < maxWarnings {
		d.report.Warnings = append(d.report.Warnings, w)
	}
}

// noteRequest counts a request of a run.
func (d *Director) noteRequest(run company.RunID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests[run]++
	d.moved = time.Now()
}

// SpeakForPresident sends the president's commands, and those that came of slow images and checks,
// each at its place in the record, until the replay is over.
func (d *Director) SpeakForPresident(ctx context.Context, office company.Decider) error {
	for sent := -1; ; {
		d.mu.Lock()
		at, over, wait := d.next, d.over, d.changed
		var s step
		if at < len(d.record.steps) {
			s = d.record.steps[at]
		}
		d.mu.Unlock()
		if over {
			return nil
		}
		if at > sent {
			if c := d.sentCommand(s, office.View()); c != nil {
				sent = at
				if _, err := office.Do(ctx, s.event.Actor, c); err != nil && company.CodeOf(err) != company.EStopped {
					return d.reportDivergence(Divergence{Run: s.run, Subtask: s.subtask, What: fmt.Sprintf("what is recorded, %s, is refused: %v", s, err)})
				}
				continue
			}
		}
		select {
		case <-wait:
		case <-d.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sentCommand is the command that a step came of and that no effect of a replay sends: one of the
// president's, or one that only the time of the recorded work brought about.
// Nil: an effect sends it.
func (d *Director) sentCommand(s step, now *company.State) company.Command {
	switch was := s.data.(type) {
	case *company.EarlyStart:
		return company.StartEarly{Task: d.record.Task, EarlyStart: *was}
	case *company.RunTold:
		return company.Tell{Subtask: s.subtask, Text: was.Text}
	case *company.ApprovalAnswered:
		return company.Answer{Approval: now.ByKey[s.key], Option: was.Option, Text: was.Text, By: was.By, Rebind: was.Rebind}
	}
	return nil
}
