package replay

import (
	"context"
	"fmt"
	"sync"
	"time"

	"company/internal/company"
)

// Trees returns the tree of a commit of the record or of the replay. It fails if the commit no longer exists.
type Trees interface {
	RecordedTree(ctx context.Context, commit company.OID) (company.OID, error)
	ReplayedTree(ctx context.Context, commit company.OID) (company.OID, error)
	// RecordedFolder returns the folder of the git repository with the commits of the record.
	RecordedFolder() (string, error)
}

// Director replays commands in the recorded order, sends the president's recorded answers, and compares the outcomes.
// It implements orchestrator.Pacer.
type Director struct {
	record   *Record
	trees    Trees
	progress func(line string)

	otherPrompts bool // set before the replay begins

	pacing sync.Mutex // serializes trying and deciding commands

	mu       sync.Mutex // guards the fields below; never held during slow work
	changed  chan struct{}
	next     int // index of the next step
	over     bool
	report   Report
	requests map[company.RunID]int
	commits  map[company.OID]company.OID    // recorded commit to the replay's, if only the id differs, not the tree
	heads    map[company.OID]*company.State // the newest state of the replay with this integration head
	done     chan struct{}                  // closed when the replay is over
	troubles map[company.ApprovalID]int     // numbered from 1 in order of arrival
	moved    time.Time                      // time of the last activity
}

// NewDirector returns the director of a replay. It calls progress with a line for each finished step. progress must
// be quick.
func NewDirector(record *Record, trees Trees, progress func(line string)) *Director {
	director := &Director{
		record: record, trees: trees, progress: progress, changed: make(chan struct{}), done: make(chan struct{}),
		requests: map[company.RunID]int{}, troubles: map[company.ApprovalID]int{},
		commits: map[company.OID]company.OID{}, heads: map[company.OID]*company.State{}, moved: time.Now(),
		report: Report{SchemaVersion: 1, Task: record.Task, Runs: []Run{}, Checks: []Check{}, Merges: []Merge{},
			Warnings: []Warning{}, Notes: append([]string{}, record.notes...)},
	}
	if len(record.steps) == 0 {
		director.over = true
		close(director.done)
	}
	return director
}

// OtherPrompt is the warning about a message that this version of the program writes differently. The record is older
// than the prompt.
const OtherPrompt = "the program writes another message here"

// OtherSettings is the warning about a request with the recorded messages but different tools or settings. The record
// is older than a tool.
const OtherSettings = "the messages are the recorded ones, the tools or the settings of the request are not"

// AllowOtherPrompts turns differences in the program's own messages into warnings. The recorded replies are used all
// the same. It is for records that are older than a prompt, and must be called before the replay begins.
func (d *Director) AllowOtherPrompts() { d.otherPrompts = true }

// Done returns a channel that is closed when the whole record was replayed or a divergence was found.
func (d *Director) Done() <-chan struct{} { return d.done }

// Idle returns the time since the last activity and the name of the step that is waited for.
func (d *Director) Idle() (since time.Duration, next string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next < len(d.record.steps) {
		next = d.record.steps[d.next].String()
	}
	return time.Since(d.moved), next
}

// MeetTrouble counts an external failure that the president is asked about. A model that refused does so again in a
// replay. known reports whether the record has as many failures, and again whether the president had this one
// retried.
func (d *Director) MeetTrouble(id company.ApprovalID) (known, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.troubles[id] == 0 {
		d.troubles[id] = len(d.troubles) + 1
	}
	return d.troubles[id] <= d.record.troubles, d.troubles[id] <= d.record.retries
}

// Report returns a copy of the report so far.
func (d *Director) Report() *Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	report := d.report
	report.Same = report.Divergence == nil && d.next == len(d.record.steps)
	return &report
}

// Pace has a command decided when it is next in the record. A command that does not affect the result is decided at
// once.
func (d *Director) Pace(ctx context.Context, actor string, command company.Command, view func() *company.State,
	commit func(company.Command, time.Time) ([]company.Event, error)) ([]company.Event, error) {
	for {
		events, wait, err := d.tryCommand(ctx, actor, command, view, commit)
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

// tryCommand decides a command if its turn has come. Otherwise it returns wait, which is closed when the next step is
// finished.
func (d *Director) tryCommand(ctx context.Context, actor string, command company.Command, view func() *company.State,
	commit func(company.Command, time.Time) ([]company.Event, error)) (
	events []company.Event, wait <-chan struct{}, err error) {
	d.pacing.Lock()
	defer d.pacing.Unlock()
	state := view()
	command = d.settleConflict(d.settleClaim(command))
	drafts, err := company.Decide(state, company.Meta{ID: "trial", Actor: actor, Now: state.Time}, command)
	if err != nil || len(drafts) == 0 {
		events, err = commit(command, time.Time{})
		return events, nil, err
	}
	places := d.placesOf(state, drafts)
	d.mu.Lock()
	over := d.over
	wait = d.changed
	at := time.Time{}
	turn := turnNow
	if len(places) > 0 {
		turn, at = d.turnOf(places[0])
	}
	d.mu.Unlock()
	switch {
	case over || isDelivery(drafts):
		return nil, nil, company.E(company.EStopped, "the replay has ended")
	case turn == turnLater:
		return nil, wait, nil
	case turn == turnNever:
		return nil, nil, d.reportDivergence(
			Divergence{Run: places[0].run, Subtask: places[0].subtask,
				What: "the replay has " + places[0].String() + ", the record has " + d.nextName() + " next"})
	}
	if events, err = commit(command, at); err != nil {
		return nil, nil, err
	}
	// The command may end its own effect, and with it the context.
	return events, nil, d.noteEvents(context.WithoutCancel(ctx), view(), events)
}

// isDelivery reports whether events belong to the delivery, which is not replayed.
func isDelivery(drafts []company.Event) bool {
	switch drafts[0].Kind {
	case "pr.intended", "pr.opened", "pr.held":
		return true
	}
	return false
}

// turn says when a step may be taken.
type turn int

const (
	turnNow turn = iota
	turnLater
	turnNever
)

// turnOf returns when an event with this place may be decided, and its recorded time. The caller holds mu.
func (d *Director) turnOf(p place) (turn, time.Time) {
	for i, step := range d.record.steps[d.next:] {
		if step.place == p {
			if i == 0 {
				return turnNow, step.event.Time
			}
			return turnLater, time.Time{}
		}
	}
	if isFirstAlone(p.kind) {
		return turnNow, time.Time{} // a run that is offered or claimed again
	}
	return turnNever, time.Time{}
}

// placesOf returns the places of those events that affect the result.
func (d *Director) placesOf(state *company.State, events []company.Event) []place {
	var out []place
	for _, e := range events {
		if p, ok := d.placeNow(state, e); ok {
			out = append(out, p)
		}
	}
	return out
}

// placeNow returns the place of an event of the replay.
func (d *Director) placeNow(state *company.State, event company.Event) (place, bool) {
	data, err := company.Decode(event)
	if err != nil {
		return place{}, false
	}
	p, ok := placeAmong(event, data, func(id company.ApprovalID) (company.ApprovalOpened, bool) {
		approval := state.Approvals[id]
		if approval == nil {
			return company.ApprovalOpened{}, false
		}
		return company.ApprovalOpened{ID: approval.ID, Key: approval.Key, AskKind: approval.Kind}, true
	})
	return p, ok
}

// settleClaim makes an agent of the company claim its run from the recorded commit, since the integration branch may
// have moved. Workers' claims are unchanged.
func (d *Director) settleClaim(command company.Command) company.Command {
	claim, ok := command.(company.Claim)
	if !ok {
		return command
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

// commitNow returns the replay's commit for a recorded one. The caller holds mu.
func (d *Director) commitNow(recorded company.OID) company.OID {
	if now, ok := d.commits[recorded]; ok {
		return now
	}
	return recorded
}

// noteEvents compares the decided events with the record and advances to the next step.
func (d *Director) noteEvents(ctx context.Context, state *company.State, events []company.Event) error {
	if task := state.Tasks[d.record.Task]; task != nil {
		d.mu.Lock()
		d.heads[task.Head] = state
		d.moved = time.Now()
		d.mu.Unlock()
	}
	for _, event := range events {
		place, ok := d.placeNow(state, event)
		if !ok {
			continue
		}
		d.mu.Lock()
		if turn, _ := d.turnOf(place); turn != turnNow || d.record.steps[d.next].place != place {
			again := isFirstAlone(place.kind) && turn == turnNow
			d.mu.Unlock()
			if again {
				continue
			}
			return d.reportDivergence(
				Divergence{Run: place.run, Subtask: place.subtask,
					What: "the replay has " + place.String() + ", the record has " + d.nextName() + " next"})
		}
		was := d.record.steps[d.next]
		d.mu.Unlock()
		data, err := company.Decode(event)
		if err != nil {
			return d.reportDivergence(Divergence{Run: place.run, Subtask: place.subtask, What: err.Error()})
		}
		if err := d.compareStep(ctx, was, data); err != nil {
			return err
		}
		d.progress(place.String())
		d.mu.Lock()
		d.goOn()
		d.mu.Unlock()
	}
	return nil
}

// goOn advances to the next step. The caller holds mu.
func (d *Director) goOn() {
	d.next++
	close(d.changed)
	d.changed = make(chan struct{})
	if d.next == len(d.record.steps) && !d.over {
		d.over = true
		close(d.done)
	}
}

// nextName returns the name of the next step.
func (d *Director) nextName() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next >= len(d.record.steps) {
		return "nothing"
	}
	return d.record.steps[d.next].String()
}

// reportDivergence records the first divergence, ends the replay, and returns the error.
func (d *Director) reportDivergence(divergence Divergence) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.report.Divergence == nil && !d.over {
		d.report.Divergence = &divergence
	}
	if !d.over {
		d.over = true
		close(d.done)
	}
	return company.E(company.EStopped, "the replay has diverged").Because(divergence.Where() + divergence.What)
}

func (d *Director) addWarning(warning Warning) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.report.Warnings) < maxWarnings {
		d.report.Warnings = append(d.report.Warnings, warning)
	}
}

// noteRequest counts a request of a run.
func (d *Director) noteRequest(run company.RunID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests[run]++
	d.moved = time.Now()
}

// SpeakForPresident sends the president's commands, each at its place in
// the record, until the replay is over.
func (d *Director) SpeakForPresident(ctx context.Context, office company.Decider) error {
	for sent := -1; ; {
		d.mu.Lock()
		index := d.next
		over := d.over
		wait := d.changed
		var s step
		if index < len(d.record.steps) {
			s = d.record.steps[index]
		}
		d.mu.Unlock()
		if over {
			return nil
		}
		if index > sent {
			if command := d.sentCommand(s, office.View()); command != nil {
				sent = index
				if _, err := office.Do(ctx, s.event.Actor, command); err != nil && company.CodeOf(err) != company.EStopped {
					return d.reportDivergence(
						Divergence{Run: s.run, Subtask: s.subtask, What: fmt.Sprintf("what is recorded, %s, is refused: %v", s, err)})
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

// sentCommand returns the command that led to a step and that no effect of a replay sends: a command of the
// president. It returns nil if an effect sends the command.
func (d *Director) sentCommand(s step, now *company.State) company.Command {
	switch was := s.data.(type) {
	case *company.RunTold:
		return company.Tell{Subtask: s.subtask, Text: was.Text}
	case *company.ApprovalAnswered:
		return company.Answer{Approval: now.ByKey[s.key], Option: was.Option, Text: was.Text, By: was.By, Rebind: was.Rebind}
	}
	return nil
}
