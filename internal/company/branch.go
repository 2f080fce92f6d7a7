package company

import (
	"fmt"
	"slices"
	"strings"
)

// The branch of an open pull request is at the remote. People may commit on top of it, rewrite it or delete it. The
// company never overwrites their changes. It records changes in the ledger, so that the president knows which commits
// are not part of the checked work.

// BranchKind compares the branch of a pull request with the delivered commit.
type BranchKind string

const (
	BranchAsDelivered BranchKind = "as_delivered"
	BranchAhead       BranchKind = "ahead"     // there are commits on top
	BranchRewritten   BranchKind = "rewritten" // it no longer contains the delivered head
	BranchGone        BranchKind = "gone"      // the remote has other branches, but not this one
)

// Limits of a branch's description.
const (
	MaxBranchCommits = 100 // higher numbers are stored as this one
	MaxBranchNames   = 5   // number of author names
	MaxBranchName    = 60  // bytes of one name
)

// BranchChange is the change of a pull request's branch since its delivery.
type BranchChange struct {
	Kind      BranchKind `json:"kind"`
	Delivered OID        `json:"delivered"`     // the delivered head that the branch is compared with
	Now       OID        `json:"now,omitempty"` // its present head; empty means that the branch is gone
	// Commits is the number of commits that neither the delivery nor the base has.
	Commits int `json:"commits,omitempty"`
	// By lists the names of their authors, as written in the commits. People is the number of authors.
	By     []string `json:"by,omitempty"`
	People int      `json:"people,omitempty"`
}

// LosesDelivery reports whether the branch lacks the delivered commit.
func (b *BranchChange) LosesDelivery() bool { return b != nil && b.Kind != BranchAhead }

// CommitsText returns the number of new commits as text, or "" if there are none.
func (b BranchChange) CommitsText() string {
	switch {
	case b.Commits <= 0:
		return ""
	case b.Commits >= MaxBranchCommits:
		return fmt.Sprintf("%d or more commits", b.Commits)
	}
	return Count(b.Commits, "commit")
}

// authorsText returns the authors after " by ", or "" if none is known.
func (b BranchChange) authorsText() string {
	if len(b.By) == 0 {
		return ""
	}
	by := " by " + strings.Join(b.By, ", ")
	if more := b.People - len(b.By); more > 0 {
		by += fmt.Sprintf(" and %d more", more)
	}
	return by
}

// String describes the change, in a phrase that follows "the branch".
func (b BranchChange) String() string {
	own := b.CommitsText()
	by := b.authorsText()
	switch b.Kind {
	case BranchAhead:
		return "has " + own + " on top of " + b.Delivered.Short() + by
	case BranchRewritten:
		if own != "" {
			own = ", and holds " + own + by
		}
		return "was rewritten to " + b.Now.Short() + ": it lacks what was delivered as " + b.Delivered.Short() + own
	case BranchGone:
		return "is not at the remote; it was delivered as " + b.Delivered.Short()
	}
	return "is as it was delivered, at " + b.Delivered.Short()
}

// Bounded returns the change with few names, and with names that are safe to print.
func (b BranchChange) Bounded() BranchChange {
	names := make([]string, 0, MaxBranchNames)
	for _, name := range b.By[:min(len(b.By), MaxBranchNames)] {
		names = append(names, plainLine(name, MaxBranchName))
	}
	if b.By = nil; len(names) > 0 {
		b.By = names
	}
	b.Commits, b.People = min(max(b.Commits, 0), MaxBranchCommits), min(max(b.People, len(names)), MaxBranchCommits)
	return b
}

// Check refuses an impossible change.
func (b BranchChange) Check() error {
	there := b.Delivered.Valid() && b.Now.Valid()
	ok := false
	switch b.Kind {
	case BranchAsDelivered:
		ok = there && b.Now == b.Delivered && b.Commits == 0
	case BranchAhead:
		ok = there && b.Now != b.Delivered && b.Commits > 0
	case BranchRewritten:
		ok = there && b.Now != b.Delivered
	case BranchGone:
		ok = b.Delivered.Valid() && b.Now == "" && b.Commits == 0
	}
	if !ok || b.Commits == 0 && len(b.By) > 0 {
		return E(
			EInvalid,
			fmt.Sprintf("branch delivered at %q cannot be %q at %q with %s", b.Delivered.Short(), b.Kind, b.Now.Short(),
				Count(b.Commits, "commit")))
	}
	return nil
}

func (b BranchChange) Equal(branchChange BranchChange) bool {
	return b.Kind == branchChange.Kind && b.Delivered == branchChange.Delivered && b.Now == branchChange.Now &&
		b.Commits == branchChange.Commits &&
		b.People == branchChange.People && slices.Equal(b.By, branchChange.By)
}

// Knows reports whether the ledger already has this state of the branch.
func (p Pull) Knows(branchChange BranchChange) bool {
	if p.Lead.BranchChange == nil {
		return branchChange.Kind == BranchAsDelivered
	}
	return p.Lead.BranchChange.Equal(branchChange.Bounded())
}

// seeBranch returns the event of a changed branch, or no event if the change is known, outdated or the company's own
// push.
func (s *State) seeBranch(lead *Task, branchChange *BranchChange, meta Meta) ([]Event, error) {
	if branchChange == nil {
		return nil, nil
	}
	if err := branchChange.Check(); err != nil {
		return nil, err
	}
	seen := branchChange.Bounded()
	for _, p := range s.Pulls() {
		if p.Lead == lead && (p.Head != seen.Delivered || p.Knows(seen)) {
			return nil, nil // the observation is older than the last delivery, or known
		}
	}
	for _, id := range s.Open {
		if o := s.Tasks[id]; o != lead && s.LeadOf(o) == lead && o.Delivery != nil && o.Delivery.Head == seen.Now {
			return nil, nil // the company's own push, not recorded yet
		}
	}
	return []Event{meta.newEvent(lead.ID, "", "", &BranchChangeSeen{seen})}, nil
}

// BranchChangeSeen records a new state of the branch of an open pull request. The next delivery to it clears the
// record.
type BranchChangeSeen struct{ BranchChange }

var _ = registerKind[BranchChangeSeen]()

func (*BranchChangeSeen) Kind() string { return "pr.branch" }
func (d *BranchChangeSeen) apply(s *State, e Event) {
	task := s.editTask(e.Task)
	task.BranchChange = nil
	if seen := d.BranchChange; seen.Kind != BranchAsDelivered {
		task.BranchChange = &seen
	}
}
