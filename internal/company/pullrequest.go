package company

import (
	"cmp"
	"fmt"
	"strings"
)

// PRState is where a pull request stands.
type PRState string

const (
	PROpen   PRState = "open"
	PRMerged PRState = "merged"
	PRClosed PRState = "closed"
)

// PullRequest is a task's delivery to the president: at most one per task, and
// one for all that follow it.
type PullRequest struct {
	Number int     `json:"number"`
	URL    string  `json:"url,omitempty"`
	Title  string  `json:"title"`
	Branch string  `json:"branch"`
	Base   string  `json:"base"` // the branch that it asks to be merged into
	Head   OID     `json:"head"`
	State  PRState `json:"state"`
	Body   Hash    `json:"body,omitempty"`
}

// IsOnForge reports whether it is on a forge, and not a page of the office's own.
func (p *PullRequest) IsOnForge() bool { return strings.HasPrefix(p.URL, "http") }

// IntendDelivery decides what will be pushed and asked for.
type IntendDelivery struct{ Task TaskID }

func (c IntendDelivery) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !s.canDeliver(t) || t.Delivery != nil && t.Delivery.Head == t.Head {
		return nil, nil
	}
	number, title := s.LastPR+1, t.PullTitle()
	if t.Delivery != nil {
		number = t.Delivery.Number
	}
	if lead := s.LeadOf(t); lead != t {
		number, title = lead.Delivery.Number, lead.PR.Title
	}
	return []Event{m.newEvent(t.ID, "", "", &DeliveryIntended{
		Number: number, Title: title, Branch: t.IntegrationBranch(), Base: t.Prepared.Base.PRBranch, Head: t.Head,
	})}, nil
}

// DeliveryIntended names the pull request before it exists, so that doing it
// again finds it.
type DeliveryIntended struct {
	Number int    `json:"number"` // of the office's local forge
	Title  string `json:"title"`
	Branch string `json:"branch"`
	Base   string `json:"base"`
	Head   OID    `json:"head"`
}

var _ = registerKind[DeliveryIntended]()

func (*DeliveryIntended) Kind() string { return "pr.intended" }
func (d *DeliveryIntended) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Delivery = d
	delete(t.Failures, intendFailure)
	s.LastPR = max(s.LastPR, d.Number)
}

// RecordDelivery brings in that the branch is pushed and the pull request is open.
type RecordDelivery struct {
	Task   TaskID
	Head   OID
	Number int
	URL    string
	Body   Hash
	Base   string        // the branch that it asks to be merged into; empty: the one of the intention
	Branch *BranchChange // where people were on it before the pull request was open; else nil
}

func (c RecordDelivery) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case t.PR != nil:
		return nil, nil
	case t.Delivery == nil || c.Head != t.Delivery.Head || c.Head != t.Head:
		return nil, E(EConflict, "the delivery is not of the head that was decided on")
	case !s.canDeliver(t):
		return nil, E(EConflict, string(t.ID)+" is not ready to be delivered")
	}
	if lead := s.LeadOf(t); lead != t && c.Number != lead.PR.Number {
		return nil, E(EConflict, fmt.Sprintf("%s follows pull request #%d, and the forge has #%d for it", t.ID, lead.PR.Number, c.Number))
	}
	base := cmp.Or(c.Base, t.Delivery.Base)
	if base != t.Delivery.Base && !t.Allows(OtherBaseKey(t.Delivery.Base, base)) {
		return nil, E(EConflict, fmt.Sprintf("%s is for %s, and nobody allowed a pull request into %s", t.ID, t.Delivery.Base, base))
	}
	events := []Event{m.newEvent(t.ID, "", "", &PROpened{PullRequest{
		Number: c.Number, URL: c.URL, Title: t.Delivery.Title, Branch: t.Delivery.Branch, Base: base,
		Head: c.Head, State: PROpen, Body: c.Body,
	}})}
	if b := c.Branch; b != nil {
		if err := b.Check(); err != nil || b.Delivered != c.Head || b.Kind == BranchAsDelivered {
			return nil, E(EInvalid, "the branch is not compared with what is delivered").Wrap(err)
		}
		events = append(events, m.newEvent(s.LeadOf(t).ID, "", "", &BranchChangeSeen{b.Bounded()}))
	}
	return append(events, m.newEvent(t.ID, "", "", &TaskCompleted{})), nil
}

// canDeliver says whether all that stands before a pull request is done: the
// gates and the review of the whole, and the president's leave where it is
// asked for.
func (s *State) canDeliver(t *Task) bool {
	return t.Status == StatusReviewing && t.gatePassed() && t.isWholeApproved() &&
		(t.Settings.PR != Ask || s.isApproved(prKey(t)))
}

func prKey(t *Task) string { return "pr " + string(t.ID) + " " + string(t.Head) }

// PROpened is the pull request.
type PROpened struct {
	PullRequest
}

var _ = registerKind[PROpened]()

func (*PROpened) Kind() string { return "pr.opened" }
func (d *PROpened) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	pr := d.PullRequest
	t.PR = &pr
	if t.Prepared != nil && pr.Base != "" && t.Prepared.Base.PRBranch != pr.Base { // what follows works on the new base
		prepared := *t.Prepared
		prepared.Base.PRBranch = pr.Base
		t.Prepared = &prepared
	}
	delete(t.Failures, deliverFailure)
	if lead := s.LeadOf(t); lead.BranchChange != nil { // of the delivery before
		s.editTask(lead.ID).BranchChange = nil
	}
}

// SettlePR brings in what a person did with a pull request. One that is closed may be merged
// later: people opened it again, or merged its commits.
type SettlePR struct {
	Task  TaskID
	State PRState
	Why   string
	// Head is the commit that was found to be merged; empty: a forge says that the pull
	// request is. A follow-up may have delivered another one meanwhile.
	Head OID `json:",omitempty"`
}

func (c SettlePR) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	t = s.LeadOf(t)
	switch {
	case t.PR == nil:
		return nil, E(ENotFound, string(t.ID)+" has no pull request")
	case c.State != PRMerged && c.State != PRClosed:
		return nil, E(EInvalid, "a pull request is merged or closed")
	case t.PR.State == c.State:
		return nil, nil
	case t.PR.State == PRMerged:
		return nil, E(EConflict, "the pull request is merged already").Fix(fmt.Sprintf("see it with company pr show %d", t.PR.Number))
	}
	if last := s.lastDelivered(t); c.Head != "" && last.PR.Head != c.Head {
		return nil, E(EConflict, fmt.Sprintf("%s of pull request #%d is merged, and %s has delivered %s since", c.Head.Short(), t.PR.Number, last.ID, last.PR.Head.Short())).
			Because("what it delivered is not merged with it").Fix(fmt.Sprintf("company pr merge %d merges the rest", t.PR.Number))
	}
	return append([]Event{m.newEvent(t.ID, "", "", &PRSettled{State: c.State, Why: c.Why})},
		s.cancelFollowUps(t, m, fmt.Sprintf("pull request #%d is %s", t.PR.Number, c.State))...), nil
}

// ReopenedHint is the end of advice about a pull request that may be open again at its forge.
func (p *PullRequest) ReopenedHint() string {
	if p.State != PRClosed || !p.IsOnForge() {
		return ""
	}
	return fmt.Sprintf("; where people opened it again: company pr sync %d", p.Number)
}

// lastDelivered is the task that delivered last to the pull request of a lead.
func (s *State) lastDelivered(lead *Task) *Task {
	last := lead
	for _, t := range s.chainOf(lead) {
		if t.PR != nil {
			last = t
		}
	}
	return last
}

// PRSettled ends a pull request, or has one that was closed open again.
type PRSettled struct {
	State PRState `json:"state"`
	Why   string  `json:"why,omitempty"`
}

var _ = registerKind[PRSettled]()

func (*PRSettled) Kind() string { return "pr.settled" }
func (d *PRSettled) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	pr := *t.PR
	if pr.State == PRClosed { // people opened it again
		for _, follow := range s.chainOf(t) {
			s.askAfterAnew(follow.ID, e)
		}
	}
	pr.State = d.State
	t.PR, t.BranchChange = &pr, nil
}
