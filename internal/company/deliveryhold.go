package company

import (
	"fmt"
	"slices"
	"strings"
)

// A final check comes before a push, because pushing a secret, or a base whose history was replaced, cannot be undone.
// Doubts become a question. A person's permission is recorded in the ledger and covers only those doubts.

// Doubt is one reason against a push.
type Doubt struct {
	Key  string `json:"key"`  // the same doubt always has the same key
	Says string `json:"says"` // text for people; never contains the secret itself
}

// MaxDoubts limits the doubts that one question names.
const MaxDoubts = 50

// HoldDelivery reports the reasons against pushing a head.
type HoldDelivery struct {
	Task   TaskID
	Head   OID
	Doubts []Doubt
	// Into is the branch that is offered instead of a base that is gone from the remote. The only doubt then has the key
	// OtherBaseKey. Empty means that the base exists.
	Into string
}

// OtherBaseKey returns the key of the doubt about a pull request into another branch than the work began for.
func OtherBaseKey(base, into string) string { return "base " + base + " into " + into }

func (c HoldDelivery) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if task.Delivery == nil || task.Delivery.Head != c.Head || task.Head != c.Head || !state.canDeliver(task) {
		return nil, E(EConflict, "the check is not for the head to be delivered")
	}
	fresh := slices.DeleteFunc(slices.Clone(c.Doubts), func(d Doubt) bool { return d.Key == "" || task.Allows(d.Key) })
	if len(fresh) == 0 {
		return nil, E(EInvalid, "no doubt blocks the push")
	}
	if c.Into != "" && (len(fresh) != 1 || fresh[0].Key != OtherBaseKey(task.Delivery.Base, c.Into)) {
		return nil, E(EInvalid, "another base cannot be offered along with other doubts")
	}
	deliveryHeld := &DeliveryHeld{Head: c.Head, Doubts: fresh[:min(len(fresh), MaxDoubts)], Into: c.Into}
	if task.HeldDelivery != nil && deliveryHeld.approvalKey(task) == task.HeldDelivery.approvalKey(task) {
		return nil, nil
	}
	return []Event{meta.newEvent(task.ID, "", "", deliveryHeld)}, nil
}

// DeliveryHeld records a push that waits for the president.
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

func (d *DeliveryHeld) approvalKey(task *Task) string {
	about := []string{string(d.Head)}
	for _, one := range d.Doubts {
		about = append(about, one.Key)
	}
	hash, err := HashOf(about)
	if err != nil {
		panic("company: strings without canonical form: " + err.Error())
	}
	return "held " + string(task.ID) + " " + string(hash)
}

// Allows reports whether a person allowed a doubt in this task.
func (t *Task) Allows(doubt string) bool { return slices.Contains(t.Allowed, doubt) }

// isPushHeld reports whether the push of the head waits for an answer.
func (s *State) isPushHeld(t *Task) bool {
	return t.HeldDelivery != nil && t.HeldDelivery.Head == t.Head && !s.isApproved(t.HeldDelivery.approvalKey(t))
}

// heldDeliveryQuestion returns the question about the held push.
func (t *Task) heldDeliveryQuestion() PendingQuestion {
	var b strings.Builder
	if into := t.HeldDelivery.Into; into != "" {
		fmt.Fprintf(&b, "%s is not pushed yet: %s. Open the pull request into %s? If %s is back at the remote by then, it "+
			"is opened into that.",
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
