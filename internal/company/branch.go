package company

import (
	"fmt"
	"slices"
	"strings"
)

// The branch of an open pull request is at the remote, where people commit on
// top of it, rewrite it or delete it. The company overwrites none of that. It
// records what it sees in the ledger, so that the president knows which commits
// stand beside the checked work.

// BranchKind says how the branch of a pull request stands beside the delivered
// commit.
type BranchKind string

const (
	BranchAsDelivered BranchKind = "as_delivered"
	BranchAhead       BranchKind = "ahead"     // there are commits on top
	BranchRewritten   BranchKind = "rewritten" // it does not hold the delivered head any more
	BranchGone        BranchKind = "gone"      // the remote has others, and not this one
)

// Bounds of a branch's description.
const (
	MaxBranchCommits = 100 // more are counted as this many
	MaxBranchNames   = 5   // of their authors
	MaxBranchName    = 60  // bytes of one name
)

// BranchChange is what became of the branch of a pull request since its
// delivery.
type BranchChange struct {
	Kind      BranchKind `json:"kind"`
	Delivered OID        `json:"delivered"`     // the head that the branch is compared with
	Now       OID        `json:"now,omitempty"` // its head; empty: it is gone
	// Commits are those of the branch that neither the delivery nor the base has.
	Commits int `json:"commits,omitempty"`
	// By names their authors, as they call themselves, and People counts them.
	By     []string `json:"by,omitempty"`
	People int      `json:"people,omitempty"`
}

// LosesDelivery reports whether the branch lacks the delivered commit.
func (b *BranchChange) LosesDelivery() bool { return b != nil && b.Kind != BranchAhead }

// CommitsText names the number of commits of others. It is empty where there are none.
func (b BranchChange) CommitsText() string {
	switch {
	case b.Commits <= 0:
		return ""
	case b.Commits >= MaxBranchCommits:
		return fmt.Sprintf("%d or more commits", b.Commits)
	}
	return Count(b.Commits, "commit")
}

// authorsText names the authors behind " by ". It is empty where none is known.
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

// Bounded is a change with names that are harmless and few.
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
		return E(EInvalid, fmt.Sprintf("a branch delivered as %q cannot be %q at %q with %s", b.Delivered.Short(), b.Kind, b.Now.Short(), Count(b.Commits, "commit")))
	}
	return nil
}

func (b BranchChange) Equal(o BranchChange) bool {
	return b.Kind == o.Kind && b.Delivered == o.Delivered && b.Now == o.Now && b.Commits == o.Commits && b.People == o.People && slices.Equal(b.By, o.By)
}

// Knows says whether the ledger holds already that the branch stands so.
func (p Pull) Knows(b BranchChange) bool {
	if p.Lead.BranchChange == nil {
		return b.Kind == BranchAsDelivered
	}
	return p.Lead.BranchChange.Equal(b.Bounded())
}

// seeBranch is the event of a branch that stands otherwise than was known, or
// none.
func (s *State) seeBranch(lead *Task, b *BranchChange, m Meta) ([]Event, error) {
	if b == nil {
		return nil, nil
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	seen := b.Bounded()
	for _, p := range s.Pulls() {
		if p.Lead == lead && (p.Head != seen.Delivered || p.Knows(seen)) {
			return nil, nil // the look is older than the last delivery, or is known
		}
	}
	for _, id := range s.Open {
		if o := s.Tasks[id]; o != lead && s.LeadOf(o) == lead && o.Delivery != nil && o.Delivery.Head == seen.Now {
			return nil, nil // its push is our own, and about to be recorded
		}
	}
	return []Event{m.newEvent(lead.ID, "", "", &BranchChangeSeen{seen})}, nil
}

// BranchChangeSeen says how the branch of an open pull request stands, where that is
// not as it was known. The next delivery to it makes it void.
type BranchChangeSeen struct{ BranchChange }

var _ = registerKind[BranchChangeSeen]()

func (*BranchChangeSeen) Kind() string { return "pr.branch" }
func (d *BranchChangeSeen) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.BranchChange = nil
	if seen := d.BranchChange; seen.Kind != BranchAsDelivered {
		t.BranchChange = &seen
	}
}
