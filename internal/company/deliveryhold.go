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
	// Into is the branch that is offered in place of a base that is gone from the remote. The one doubt
	// then has the key OtherBaseKey. Empty: the base is there.
	Into string
}

// OtherBaseKey is the doubt about a pull request into a branch that is not the one the work began for.
func OtherBaseKey(base, into string) string { return "base " + base + " into " + into }

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
	if c.Into != "" && (len(fresh) != 1 || fresh[0].Key != OtherBaseKey(t.Delivery.Base, c.Into)) {
		return nil, E(EInvalid, "another base is offered beside other doubts")
	}
	d := &DeliveryHeld{Head: c.Head, Doubts: fresh[:min(len(fresh), MaxDoubts)], Into: c.Into}
	if t.HeldDelivery != nil && d.approvalKey(t) == t.HeldDelivery.approvalKey(t) {
		return nil, nil
	}
	return []Event{m.newEvent(t.ID, "", "", d)}, nil
}

// DeliveryHeld is a push that waits for the president.
type DeliveryHeld struct {
	Head   OID     `json:"head"`
	Doubts []Doubt `json:"doubts"`
	Into   string  `json:"into,omitempty"` // see HoldDelivery
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
	if into := t.HeldDelivery.Into; into != "" {
		fmt.Fprintf(&b, "%s is not pushed yet: %s. Open the pull request into %s? If %s is back at the remote by then, it is opened into that.",
			t.Delivery.Branch, t.HeldDelivery.Doubts[0].Says, into, t.Delivery.Base)
		return PendingQuestion{Key: t.HeldDelivery.approvalKey(t), Kind: AskOtherBase, Task: t.ID, Question: b.String()}
	}
	fmt.Fprintf(&b, "%s is not pushed yet. What it would publish:\n", t.Delivery.Branch)
	for _, d := range t.HeldDelivery.Doubts {
		b.WriteString("- " + d.Says + "\n")
	}
	b.WriteString("Push it all the same?")
	return PendingQuestion{Key: t.HeldDelivery.approvalKey(t), Kind: AskHeld, Task: t.ID, Question: b.String()}
}
