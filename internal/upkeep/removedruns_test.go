package upkeep

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/bustest"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/present/view"
)

// makeGap takes the head of a blob that nothing names out of its pack.
func (s *store) makeGap() {
	s.t.Helper()
	h := s.putBlob("lost in a gap")
	s.close()
	sum, err := hex.DecodeString(string(h))
	must(s.t, err)
	packs, err := filepath.Glob(filepath.Join(s.office.Bus, "blobs/packs/*.pack"))
	must(s.t, err)
	found := false
	for _, pack := range packs {
		text, err := os.ReadFile(pack)
		must(s.t, err)
		if at := bytes.Index(text, sum) - 32; at >= 0 {
			clear(text[at : at+64])
			must(s.t, os.WriteFile(pack, text, 0o600))
			found = true
		}
	}
	if !found {
		s.t.Fatal("the blob is in no pack")
	}
	must(s.t, s.open())
}

// requireGap holds what a verification finds to the gap alone, where there is one.
func (s *store) requireGap(gap bool) {
	s.t.Helper()
	v, err := s.verifier().Run(s.t.Context())
	must(s.t, err)
	if gap {
		requireDamage(s.t, v.Damage, "blob", "blobs/packs/00000001.pack at byte ")
	} else if len(v.Damage) > 0 {
		s.t.Fatalf("damage %+v", v.Damage)
	}
}

// What a cleanup has removed of a task that goes on since is no damage, and holds up no
// collection, also where a pack has a gap that may have taken it. What a task of before left
// that had gone on when the cleanup came is missed.
func TestCleanedTaskGoesOn(t *testing.T) {
	for name, c := range map[string]struct{ gap, archived bool }{"whole": {}, "archived": {archived: true},
		"gap": {gap: true}, "archived, gap": {true, true}} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, "file")
			cleaned, cleanedJournal := s.endRun("cleaned")
			kept, keptJournal := s.endRun("kept")
			s.Must(company.Retry{Task: kept.Task()})
			if c.archived {
				must(t, s.orch.ArchiveTask(t.Context(), cleaned.Task()))
			}
			s.cleanAll()
			s.requireBlob(cleanedJournal, false)
			s.requireBlob(keptJournal, true)
			if c.gap {
				s.makeGap()
			}
			_, err := s.orch.Do(t.Context(), company.President, company.Retry{Task: cleaned.Task()})
			must(t, err)
			if task := s.orch.View().Tasks[cleaned.Task()]; task == nil || task.Status.Ended() ||
				task.Runs[cleaned].Journal != cleanedJournal {
				t.Fatalf("the task that goes on: %+v", task)
			}
			s.requireGap(c.gap)
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
			s.requireGap(c.gap)

			_, err = bustest.LoseBlob(s.office.Bus, string(keptJournal))
			must(t, err)
			v, err := s.verifier().Run(t.Context())
			must(t, err)
			if !hasDamage(v.Damage, string(keptJournal)) || hasDamage(v.Damage, string(cleanedJournal)) {
				t.Errorf("damage %+v", v.Damage)
			}
			if g, err := k.listBlobs(t.Context(), time.Now()); c.gap && company.CodeOf(err) != company.ELedger {
				t.Errorf("beside a journal that the gap may have taken %+v is found: %v", g, err)
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

// A blob that is removed while a verification lists the blobs is no damage, also beside a gap.
func TestBlobsRemovedWhileListed(t *testing.T) {
	s := newStore(t, "file")
	s.makeGap()
	s.putBlob("loose")
	var err error
	s.ledger, err = ledger.Open(t.Context(), removingBus{s.bus}, ledger.Options{Folder: s.office.StateFolder})
	must(t, err)
	s.requireGap(true)
}
