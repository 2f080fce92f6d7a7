package company

import (
	"fmt"
	"slices"
	"strings"
)

// A last look comes before a push: a secret in it, or a base whose history was
// replaced, cannot be taken back afterwards. Doubts become a question; a
// person's permission is in the ledger, and holds for those doubts alone.

// Doubt is one reason against a push.
type Doubt struct {
	Key  string `json:"key"`  // the same doubt has the same one, wherever it shows up
	Says string `json:"says"` // for people; never the secret itself
}

// MaxDoubts bounds the doubts that one question names.
const MaxDoubts = 50

// HoldDelivery brings in what stands against pushing a head.
type HoldDelivery struct {
	Task   TaskID
	Head   OID
	Doubts []Doubt
}

func (c HoldDelivery) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Delivery == nil || t.Delivery.Head != c.Head || t.Head != c.Head || !s.canDeliver(t) {
		return nil, E(EConflict, "the look is not at the head that is to be delivered")
	}
	fresh := slices.DeleteFunc(slices.Clone(c.Doubts), func(d Doubt) bool { return d.Key == "" || t.Allows(d.Key) })
	if len(fresh) == 0 {
		return nil, E(EInvalid, "nothing stands against the push")
	}
	d := &DeliveryHeld{Head: c.Head, Doubts: fresh[:min(len(fresh), MaxDoubts)]}
	if t.HeldDelivery != nil && d.approvalKey(t) == t.HeldDelivery.approvalKey(t) {
		return nil, nil
	}
	return []Event{m.newEvent(t.ID, "", "", d)}, nil
}

// DeliveryHeld is a push that waits for the president.
type DeliveryHeld struct {
	Head   OID     `json:"head"`
	Doubts []Doubt `json:"doubts"`
}

var _ = registerKind[DeliveryHeld]()

func (*DeliveryHeld) Kind() string { return "pr.held" }
func (d *DeliveryHeld) apply(s *State, e Event) {
	s.editTask(e.Task).HeldDelivery = d
}

func (d *DeliveryHeld) approvalKey(t *Task) string {
	about := []string{string(d.Head)}
	for _, one := range d.Doubts {
		about = append(about, one.Key)
	}
	h, err := HashOf(about)
	if err != nil {
		panic("company: strings without canonical form: " + err.Error())
	}
	return "held " + string(t.ID) + " " + string(h)
}

// Allows says whether a person let a doubt pass in this task.
func (t *Task) Allows(doubt string) bool { return slices.Contains(t.Allowed, doubt) }

// isPushHeld says whether the push of the head waits for an answer.
func (s *State) isPushHeld(t *Task) bool {
	return t.HeldDelivery != nil && t.HeldDelivery.Head == t.Head && !s.isApproved(t.HeldDelivery.approvalKey(t))
}

// heldDeliveryQuestion is the question about it.
func (t *Task) heldDeliveryQuestion() PendingQuestion {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not pushed yet. What it would publish:\n", t.Delivery.Branch)
	for _, d := range t.HeldDelivery.Doubts {
		b.WriteString("- " + d.Says + "\n")
	}
	b.WriteString("Push it all the same?")
	return PendingQuestion{Key: t.HeldDelivery.approvalKey(t), Kind: AskHeld, Task: t.ID, Question: b.String()}
}
