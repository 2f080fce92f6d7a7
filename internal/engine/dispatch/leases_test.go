package dispatch

import (
	"context"
	"testing"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/company/decidertest"
)

// A run that is on offer is claimed by its item.
func TestOfferedRunIsClaimed(t *testing.T) {
	b := setup(t)
	b.Must(company.Offer{Run: first})
	b.enqueue()
	b.start(b.pool)
	if r := b.awaitHeld(first); r.Worker != "w1" {
		t.Errorf("it is claimed by %q", r.Worker)
	}
	if s, err := b.pool.Status(t.Context()); err != nil || s.Active != 1 || s.Idle != 0 || s.Total != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	b.isQuiet()
}

// An item that no offer of the ledger stands behind is acknowledged at once, and
// the next one is leased: it does not come back, and holds up no other run. Such are
// the items of a task that was paused before the lease, of an earlier epoch or
// offer, of a run that has ended or is held elsewhere, and of a ledger that was
// restored from a backup.
func TestItemWithoutOfferHoldsUpNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		before func(b *bench)
		item   company.OfferID
	}{
		"a run that the ledger does not know":  {nil, company.OfferID{Run: first, Epoch: 1, Number: 1}},
		"a task that the ledger does not know": {nil, company.OfferID{Run: "t9-01.1", Epoch: 1, Number: 1}},
		"of an older version": {func(b *bench) { b.Must(company.Offer{Run: first}) },
			company.OfferID{Run: first, Epoch: 1}},
		"a later offer": {func(b *bench) { b.Must(company.Offer{Run: first}) },
			company.OfferID{Run: first, Epoch: 1, Number: 2}},
		"an earlier offer": {func(b *bench) {
			b.Must(company.Offer{Run: first})
			b.Must(company.Release{Run: first, Fence: b.Claim(first, "")})
			b.Must(company.Offer{Run: first})
		}, company.OfferID{Run: first, Epoch: 1, Number: 1}},
		"an earlier epoch": {func(b *bench) {
			b.Must(company.Offer{Run: first})
			b.Must(company.StartOffice{Office: decidertest.Office})
			b.Must(company.Offer{Run: first})
		}, company.OfferID{Run: first, Epoch: 1, Number: 1}},
		"a run that is held": {func(b *bench) {
			b.Must(company.Offer{Run: first})
			b.Claim(first, "")
		}, company.OfferID{Run: first, Epoch: 1, Number: 1}},
		"a run that has ended": {func(b *bench) {
			b.Must(company.Offer{Run: first})
			b.Must(company.EndRun{Run: first, Fence: b.Claim(first, ""),
				Outcome: company.RunEnded{Status: company.RunError, Error: "it broke"}})
		}, company.OfferID{Run: first, Epoch: 1, Number: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			if c.before != nil {
				c.before(b)
			}
			had := b.Task("t1").Runs[first]
			b.put("void", c.item)
			b.Must(company.Offer{Run: second})
			b.enqueueOnly(second)
			b.start(b.pool)
			b.await("ack void")
			b.awaitHeld(second)
			b.isQuiet()
			if got := b.Task("t1").Runs[first]; (got == nil) != (had == nil) || got != nil && got.Fence != had.Fence {
				t.Errorf("it was claimed: %+v", got)
			}
		})
	}
}

// A pause that comes between the offer and the lease makes the item void. It
// keeps no worker from the runs of other tasks meanwhile, and the run is offered
// again when the pause is lifted.
func TestPauseBetweenOfferAndLease(t *testing.T) {
	b := setup(t)
	b.Must(company.Offer{Run: first})
	b.enqueue()
	for waiting := 0; waiting == 0; {
		var err error
		if waiting, _, err = b.queue.Depth(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.Must(company.Pause{Task: "t1"})
	other := b.Submit("do that", "/p")
	b.Prepare(other, company.OID("3333333333333333333333333333333333333333"),
		company.GateCommand{Name: "test", Command: "true"})
	b.Plan(other, company.Plan{Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
		Title: "Change c", Description: "Change what c does, so that everybody is content with it, and show that by a test.",
		AcceptanceCriteria: []string{"it is changed", "nothing else is"}, WriteSet: []string{"c.go"},
		Effort: company.EffortMedium,
	}}}}})
	b.Must(company.Offer{Run: "t2-01.1"})
	b.put("behind it", company.OfferID{Run: "t2-01.1", Epoch: 1, Number: 1})
	b.start(b.pool)
	b.await("ack enqueue t1-01.1 1.1")
	for b.Task(other).Runs["t2-01.1"].Held == false {
		select {
		case got := <-b.queue.told:
			t.Fatalf("%s, and the run behind it waits", got)
		default:
		}
	}
	b.Must(company.Pause{Task: "t1", Off: true})
	b.Must(company.Offer{Run: first})
	b.pool.SetMax(2)
	b.enqueue()
	b.awaitHeld(first)
}

// An item that is leased twice makes one claim.
func TestItemLeasedTwice(t *testing.T) {
	b := setup(t)
	b.Must(company.Offer{Run: first})
	b.put("one", company.OfferID{Run: first, Epoch: 1, Number: 1})
	b.start(b.pool)
	r := b.awaitHeld(first)
	b.put("again", company.OfferID{Run: first, Epoch: 1, Number: 1})
	b.start(b.newPool(b)) // another process's
	b.await("ack again")
	if got := b.Task("t1").Runs[first]; !got.Held || got.Fence != r.Fence {
		t.Errorf("%+v", got)
	}
}

// slowDecider does not answer the first commands.
type slowDecider struct {
	company.Decider
	silent int
}

func (d *slowDecider) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	if d.silent--; d.silent >= 0 {
		return nil, company.E(company.EBus, "the bus does not answer").Wrap(bus.ErrUnknown)
	}
	return d.Decider.Do(ctx, actor, c)
}

// A claim that was not decided leaves the item where it is.
func TestUndecidedClaimComesAgain(t *testing.T) {
	b := setup(t)
	b.Must(company.Offer{Run: first})
	b.put("item", company.OfferID{Run: first, Epoch: 1, Number: 1})
	b.start(b.newPool(&slowDecider{b, 1}))
	b.await("nack item")
	b.awaitHeld(first)
}

// What cannot be read is removed.
func TestUnreadableItem(t *testing.T) {
	b := setup(t)
	if err := b.queue.Put(t.Context(), bus.Item{ID: "noise", Body: []byte("{")}); err != nil {
		t.Fatal(err)
	}
	b.start(b.pool)
	b.await("ack noise")
}
