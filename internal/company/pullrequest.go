package company

import (
	"cmp"
	"fmt"
	"strings"
)

// PRState is the state of a pull request.
type PRState string

const (
	PROpen   PRState = "open"
	PRMerged PRState = "merged"
	PRClosed PRState = "closed"
)

// PullRequest is a task's delivery to the president. A task has at most one, and all its follow-ups share it.
type PullRequest struct {
	Number int     `json:"number"`
	URL    string  `json:"url,omitempty"`
	Title  string  `json:"title"`
	Branch string  `json:"branch"`
	Base   string  `json:"base"` // the target branch
	Head   OID     `json:"head"`
	State  PRState `json:"state"`
	Body   Hash    `json:"body,omitempty"`
	// Note tells where the branch was pushed, if not to the project's remote, or why it was not.
	Note string `json:"note,omitempty"`
	// Unpushed means that the project has a remote and a setting of the president's git forbids pushes.
	Unpushed bool `json:"unpushed,omitempty"`
}

// IsOnForge reports whether it is on a forge, and not a page of this office.
func (p *PullRequest) IsOnForge() bool { return strings.HasPrefix(p.URL, "http") }

// IntendDelivery decides what to push and which pull request to open. It ends a task that changes nothing.
type IntendDelivery struct{ Task TaskID }

func (c IntendDelivery) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !state.canDeliver(task) || task.Delivery != nil && task.Delivery.Head == task.Head {
		return nil, nil
	}
	if state.isUnchanged(task) {
		return []Event{meta.newEvent(task.ID, "", "", &TaskCompleted{Unchanged: true})}, nil
	}
	number, title := state.LastPR+1, task.PullTitle()
	if task.Delivery != nil {
		number = task.Delivery.Number
	}
	if lead := state.LeadOf(task); lead != task {
		number, title = lead.Delivery.Number, lead.PR.Title
	}
	return []Event{meta.newEvent(task.ID, "", "", &DeliveryIntended{
		Number: number, Title: title, Branch: task.IntegrationBranch(), Base: task.Prepared.Base.PRBranch, Head: task.Head,
	})}, nil
}

// RenameDelivery gives the branch of a delivery another name before it is pushed.
type RenameDelivery struct {
	Task   TaskID
	Head   OID
	Branch string
}

func (c RenameDelivery) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case task.Delivery == nil || task.Delivery.Head != c.Head || task.Head != c.Head || !state.canDeliver(task):
		return nil, E(EConflict, "the new name is not for the head to be delivered")
	case state.LeadOf(task) != task || task.PR != nil:
		return nil, E(EConflict, "the branch of "+string(task.ID)+" was pushed already")
	case task.Delivery.Branch == c.Branch:
		return nil, nil
	}
	if err := refuseProtectedBranch(c.Branch); err != nil {
		return nil, err
	}
	renamed := *task.Delivery
	renamed.Branch = c.Branch
	return []Event{meta.newEvent(task.ID, "", "", &renamed)}, nil
}

// DeliveryIntended records the pull request before it exists, so that a retry finds it.
type DeliveryIntended struct {
	Number int    `json:"number"` // of the office's local forge
	Title  string `json:"title"`
	Branch string `json:"branch"`
	Base   string `json:"base"`
	Head   OID    `json:"head"`
}

var _ = registerKind[DeliveryIntended]()

func (*DeliveryIntended) Kind() string { return "pr.intended" }
func (d *DeliveryIntended) apply(state *State, e Event) {
	task := state.editTask(e.Task)
	task.Delivery = d
	if task.Prepared != nil && task.Prepared.Integration != d.Branch { // renamed; later merges go to it
		prepared := *task.Prepared
		prepared.Integration = d.Branch
		task.Prepared = &prepared
	}
	delete(task.Failures, intendFailure)
	state.LastPR = max(state.LastPR, d.Number)
}

// RecordDelivery records that the branch is pushed and the pull request is open.
type RecordDelivery struct {
	Task   TaskID
	Head   OID
	Number int
	URL    string
	Body   Hash
	Base   string        // the target branch; empty means the intended one
	Branch *BranchChange // set if people changed the branch before the pull request was open
	// Note and Unpushed are those of PullRequest.
	Note     string
	Unpushed bool
	Evidence *Evidence
}

func (c RecordDelivery) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case task.PR != nil:
		return nil, nil
	case task.Delivery == nil || c.Head != task.Delivery.Head || c.Head != task.Head:
		return nil, E(EConflict, "the delivery does not match the decided head")
	case !state.canDeliver(task):
		return nil, E(EConflict, string(task.ID)+" is not ready to be delivered")
	}
	if lead := state.LeadOf(task); lead != task && c.Number != lead.PR.Number {
		return nil,
			E(EConflict,
				fmt.Sprintf("%s follows pull request #%d, but the forge has #%d for it", task.ID, lead.PR.Number, c.Number))
	}
	if err := task.checkEvidence(c.Evidence); err != nil {
		return nil, err
	}
	base := cmp.Or(c.Base, task.Delivery.Base)
	if base != task.Delivery.Base && !task.Allows(OtherBaseKey(task.Delivery.Base, base)) {
		return nil,
			E(EConflict,
				fmt.Sprintf("%s is for %s; a pull request into %s was not approved", task.ID, task.Delivery.Base, base))
	}
	events := []Event{meta.newEvent(task.ID, "", "", &PROpened{PullRequest{
		Number: c.Number, URL: c.URL, Title: task.Delivery.Title, Branch: task.Delivery.Branch, Base: base,
		Head: c.Head, State: PROpen, Body: c.Body, Note: c.Note, Unpushed: c.Unpushed,
	}})}
	if branchChange := c.Branch; branchChange != nil {
		if err := branchChange.Check(); err != nil || branchChange.Delivered != c.Head ||
			branchChange.Kind == BranchAsDelivered {
			return nil, E(EInvalid, "the branch was not compared with the delivered commits").Wrap(err)
		}
		events = append(events, meta.newEvent(state.LeadOf(task).ID, "", "", &BranchChangeSeen{branchChange.Bounded()}))
	}
	return append(events, meta.newEvent(task.ID, "", "", &TaskCompleted{Evidence: c.Evidence})), nil
}

// canDeliver reports whether everything before a pull request is done: the gates and the review of the whole task, and
// the president's approval if it is required.
func (s *State) canDeliver(task *Task) bool {
	return task.Status == StatusReviewing && task.gatePassed() && task.isWholeApproved() &&
		(task.Settings.PR != Ask || s.isUnchanged(task) || s.isApproved(prKey(task)))
}

// isUnchanged reports whether no subtask of a task changed anything, so that there is nothing to deliver. A follow-up
// is delivered all the same, because the remarks that it is about are open at its pull request.
func (s *State) isUnchanged(task *Task) bool {
	return s.LeadOf(task) == task && len(task.Subtasks) > 0 && !task.ClaimsChanges()
}

func prKey(t *Task) string { return "pr " + string(t.ID) + " " + string(t.Head) }

// PROpened records the opened pull request.
type PROpened struct {
	PullRequest
}

var _ = registerKind[PROpened]()

func (*PROpened) Kind() string { return "pr.opened" }
func (d *PROpened) apply(state *State, e Event) {
	task := state.editTask(e.Task)
	pr := d.PullRequest
	task.PR = &pr
	if task.Prepared != nil && pr.Base != "" && task.Prepared.Base.PRBranch != pr.Base {
		// Follow-ups work on the new base.
		prepared := *task.Prepared
		prepared.Base.PRBranch = pr.Base
		task.Prepared = &prepared
	}
	delete(task.Failures, deliverFailure)
	if lead := state.LeadOf(task); lead.BranchChange != nil { // from the previous delivery
		state.editTask(lead.ID).BranchChange = nil
	}
}

// SettlePR records that a person merged or closed a pull request. A closed one may be merged later: people may reopen
// it or merge its commits.
type SettlePR struct {
	Task  TaskID
	State PRState
	Why   string
	// Head is the commit that was found merged. Empty means that the forge reports the pull request as merged. A
	// follow-up may have delivered another commit meanwhile.
	Head OID `json:",omitempty"`
}

func (c SettlePR) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.Task(c.Task)
	if err != nil {
		return nil, err
	}
	task = state.LeadOf(task)
	switch {
	case task.PR == nil:
		return nil, E(ENotFound, string(task.ID)+" has no pull request")
	case c.State != PRMerged && c.State != PRClosed:
		return nil, E(EInvalid, "invalid end of a pull request: must be merged or closed")
	case task.PR.State == c.State:
		return nil, nil
	case task.PR.State == PRMerged:
		return nil, E(EConflict, "the pull request is merged already").
			Fix(fmt.Sprintf("see it with company pr show %d", task.PR.Number))
	}
	if last := state.lastDelivered(task); c.Head != "" && last.PR.Head != c.Head {
		return nil,
			E(EConflict,
				fmt.Sprintf("%s of pull request #%d is merged, and %s has delivered %s since", c.Head.Short(),
					task.PR.Number, last.ID,
					last.PR.Head.Short())).
				Because("what it delivered is not merged with it").
				Fix(fmt.Sprintf("company pr merge %d merges the rest", task.PR.Number))
	}
	return append([]Event{meta.newEvent(task.ID, "", "", &PRSettled{State: c.State, Why: c.Why})},
		state.cancelFollowUps(task, meta, fmt.Sprintf("pull request #%d is %s", task.PR.Number, c.State))...), nil
}

// ReopenedHint returns the end of a hint about a pull request that may have been reopened at its forge.
func (p *PullRequest) ReopenedHint() string {
	if p.State != PRClosed || !p.IsOnForge() {
		return ""
	}
	return fmt.Sprintf("; where people opened it again: company pr sync %d", p.Number)
}

// lastDelivered returns the task that last delivered to the pull request of a lead.
func (s *State) lastDelivered(lead *Task) *Task {
	last := lead
	for _, task := range s.chainOf(lead) {
		if task.PR != nil {
			last = task
		}
	}
	return last
}

// PRSettled records a new state of a pull request: merged, closed, or open again after a close.
type PRSettled struct {
	State PRState `json:"state"`
	Why   string  `json:"why,omitempty"`
}

var _ = registerKind[PRSettled]()

func (*PRSettled) Kind() string { return "pr.settled" }
func (d *PRSettled) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	pr := *task.PR
	if pr.State == PRClosed { // people opened it again
		for _, follow := range state.chainOf(task) {
			state.askAfterAgain(follow.ID, event)
		}
	}
	pr.State = d.State
	task.PR, task.BranchChange = &pr, nil
}
