package upkeep

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/bustest"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/present/view"
)

// What a cleanup has removed of a task that goes on since is not damage, and holds up no
// collection. What a task of before left that had gone on when the cleanup came is missed.
func TestCleanedTaskGoesOn(t *testing.T) {
	for name, archived := range map[string]bool{"whole": false, "archived": true} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, "file")
			cleaned, cleanedJournal := s.endRun("cleaned")
			kept, keptJournal := s.endRun("kept")
			s.Must(company.Retry{Task: kept.Task()})
			if archived {
				must(t, s.orch.ArchiveTask(t.Context(), cleaned.Task()))
			}
			s.cleanAll()
			s.requireBlob(cleanedJournal, false)
			s.requireBlob(keptJournal, true)
			_, err := s.orch.Do(t.Context(), company.President, company.Retry{Task: cleaned.Task()})
			must(t, err)
			if task := s.orch.View().Tasks[cleaned.Task()]; task == nil || task.Status.Ended() ||
				task.Runs[cleaned].Journal != cleanedJournal {
				t.Fatalf("the task that goes on: %+v", task)
			}
			s.requireWhole()
			loose := s.putBlob("loose")
			k := s.keeper().policyOf(false)
			g, err := k.listBlobs(t.Context(), time.Now())
			if err != nil || g == nil {
				t.Fatalf("a collection finds %+v: %v", g, err)
			}
			must(t, g.Remove(t.Context()))
			if has, err := s.ledger.HasBlob(t.Context(), loose); has {
				t.Errorf("what nothing names is there: %v", err)
			}
			s.requireBlob(keptJournal, true)
			s.requireWhole()

			_, err = bustest.LoseBlob(s.office.Bus, string(keptJournal))
			must(t, err)
			v, err := s.verifier().Run(t.Context())
			must(t, err)
			if !hasDamage(v.Damage, string(keptJournal)) || hasDamage(v.Damage, string(cleanedJournal)) {
				t.Errorf("damage %+v", v.Damage)
			}
		})
	}
}

func hasDamage(all []view.Damage, where string) bool {
	for _, d := range all {
		if strings.Contains(d.Where, where) {
			return true
		}
	}
	return false
}

// removingBus removes each blob when a listing shows it.
type removingBus struct{ bus.Bus }

func (b removingBus) Blobs() bus.Blobs { return removingBlobs{b.Bus.Blobs()} }

type removingBlobs struct{ bus.Blobs }

func (b removingBlobs) List(ctx context.Context, after string, fn func(bus.BlobInfo) error) error {
	return b.Blobs.List(ctx, after, func(info bus.BlobInfo) error {
		_, err := b.Remove(ctx, info.Hash, time.Now().Add(time.Hour))
		return errors.Join(err, fn(info))
	})
}

// A blob that is removed while a verification lists the blobs is not damage.
func TestBlobsRemovedWhileListed(t *testing.T) {
	s := newStore(t, "file")
	s.putBlob("loose")
	var err error
	s.ledger, err = ledger.Open(t.Context(), removingBus{s.bus}, ledger.Options{Folder: s.office.StateFolder})
	must(t, err)
	s.requireWhole()
}
