package upkeep

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/retry"
	"company/internal/office"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// Verifier reads the whole ledger and every blob of an office, and checks them against their hashes. A start only
// reads the events after the snapshot, and blobs are read on demand, so only a verifier finds damage elsewhere.
type Verifier struct {
	Ledger *ledger.Ledger
	State  State
	Office *office.Office
	Feed   Feed // receives each new damage once
	Logger *slog.Logger

	mu     sync.Mutex
	damage []view.Damage // known damage; nil before its file is read
	loaded bool
}

// Feed publishes items for people.
type Feed interface{ PublishItem(feed.Item) }

// Settings of a round. It pauses between steps, so that other work goes first.
const (
	verifyEvery    = 24 * time.Hour         // between the end of a round and the start of the next
	recordsPerStep = 512                    // records of the ledger
	bytesPerStep   = 8 << 20                // bytes of blobs, exceeded if one blob is larger
	stepRest       = 200 * time.Millisecond // pause between two steps
	saveEvery      = 10 * time.Second       // limits the work that is repeated after a kill
)

// Run verifies everything at once and returns the damage. It is for a person at a terminal.
func (v *Verifier) Run(ctx context.Context) (view.Verification, error) {
	var p verification
	for done := false; !done; {
		var err error
		if done, err = v.takeStep(ctx, &p); err != nil {
			return view.Verification{}, err
		}
	}
	return view.Verification{SchemaVersion: 1, Events: p.Ledger.Seq, Blobs: p.Blobs, Bytes: p.Bytes,
		Damage: append([]view.Damage{}, p.Found...)}, nil
}

// Job returns the job of a serving company, which makes one round a day in small steps. It continues the round of an
// earlier process.
func (v *Verifier) Job() Job {
	return Job{Name: "verification", Interval: 15 * time.Minute, Limit: 24 * time.Hour,
		Run: func(ctx context.Context) error { return v.runRound(ctx, stepRest) }}
}

// Damage returns the damage that earlier rounds found and no later round found repaired.
func (v *Verifier) Damage() []view.Damage {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.loaded {
		v.damage, v.loaded = v.load().Damage, true
	}
	return slices.Clone(v.damage)
}

func (v *Verifier) setDamage(all []view.Damage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.damage, v.loaded = slices.Clone(all), true
}

// runRound continues an unfinished round, or starts a new one if it is due.
func (v *Verifier) runRound(ctx context.Context, rest time.Duration) error {
	p := v.load()
	if !p.Ended.IsZero() {
		if v.State.Now().Before(p.Ended.Add(verifyEvery)) && !p.Ended.After(v.State.Now()) {
			return nil
		}
		p = verification{Damage: p.Damage}
	}
	if p.Begun.IsZero() {
		p.Begun = v.State.Now()
	}
	saved := v.State.Now()
	for done := false; !done; {
		before := len(p.Found)
		var err error
		done, err = v.takeStep(ctx, &p)
		if ctx.Err() != nil {
			return v.saveProgress(p) // the next round continues here
		}
		if err != nil {
			return errors.Join(err, v.saveProgress(p))
		}
		v.reportDamage(&p, p.Found[before:])
		if now := v.State.Now(); len(p.Found) > before || now.Sub(saved) >= saveEvery {
			saved = now
			if err := v.saveProgress(p); err != nil {
				return err
			}
		}
		if !done && retry.Sleep(ctx, rest) != nil {
			return v.saveProgress(p)
		}
	}
	if mended := len(p.Damage) - len(p.Found); mended > 0 {
		v.Feed.PublishItem(
			feed.Item{Kind: "verification", Mark: feed.Done, Text: company.Count(mended, "damage") + " of before is mended"})
	}
	p.Ended, p.Damage = v.State.Now(), p.Found
	v.setDamage(p.Damage)
	v.Logger.Info("verified", "events", p.Ledger.Seq, "blobs", p.Blobs, "bytes", p.Bytes, "damage", len(p.Found))
	return v.saveProgress(p)
}

// reportDamage logs and publishes damage that was not known before.
func (v *Verifier) reportDamage(p *verification, found []view.Damage) {
	for _, damage := range found {
		if slices.ContainsFunc(p.Damage, damage.IsSame) {
			continue
		}
		p.Damage = append(p.Damage, damage)
		v.Logger.Error("stored data is damaged", "code", damage.Code, "what", damage.What, "where", damage.Where, "why",
			damage.Why, "fix", damage.Fix)
		v.Feed.PublishItem(
			feed.Item{Kind: "verification", Mark: feed.Needs, Text: damage.Text(), Lines: []string{damage.Fix}})
	}
	v.setDamage(p.Damage)
}

// takeStep verifies the next part. done reports that the round is complete.
func (v *Verifier) takeStep(ctx context.Context, p *verification) (done bool, err error) {
	switch {
	case !p.LedgerDone:
		return false, v.readLedger(ctx, p)
	case !p.BlobsDone:
		return false, v.readBlobs(ctx, p)
	}
	return v.findMissing(ctx, p)
}

func (v *Verifier) readLedger(ctx context.Context, p *verification) error {
	at, done, err := v.Ledger.VerifySome(ctx, p.Ledger, recordsPerStep)
	if company.CodeOf(err) == company.ELedger {
		p.Ledger, p.LedgerDone = at, true
		p.add(v.newDamage("ledger", fmt.Sprintf("event %d, and perhaps later ones", at.Seq+1), err))
		return nil
	}
	if err == nil {
		p.Ledger, p.LedgerDone = at, done
	}
	return err
}

// errStep stops a listing at the end of a step.
var errStep = errors.New("upkeep: enough for one step")

func (v *Verifier) readBlobs(ctx context.Context, p *verification) error {
	read := int64(0)
	err := v.Ledger.Blobs(ctx, p.Blob, func(blobInfo bus.BlobInfo) error {
		if read >= bytesPerStep {
			return errStep
		}
		hash := company.Hash(blobInfo.Hash)
		err := v.Ledger.VerifyBlob(ctx, hash)
		switch code := company.CodeOf(err); {
		case err == nil, errors.Is(err, bus.ErrNotFound): // removed meanwhile
		case code == company.ELedger:
			p.add(v.newDamage("blob", v.describeBlob(hash), err))
		default:
			return err
		}
		read += max(blobInfo.Size, 4<<10)
		p.Blob, p.Blobs, p.Bytes = hash, p.Blobs+1, p.Bytes+blobInfo.Size
		return nil
	})
	if errors.Is(err, errStep) {
		return nil
	}
	p.BlobsDone = err == nil
	return err
}

// newPolicy returns the policy with the cleanups so far.
func (v *Verifier) newPolicy() retentionPolicy {
	return retentionPolicy{state: v.State.View(), office: v.Office}
}

// describeBlob returns a blob's hash with its use, if the state knows it.
func (v *Verifier) describeBlob(hash company.Hash) string {
	policy := v.newPolicy()
	for id, past := range policy.state.Past {
		if past.Blob == hash {
			return fmt.Sprintf("%s (the archive of %s)", hash, id)
		}
	}
	for _, t := range policy.state.SortedTasks() {
		for _, namedBlob := range policy.taskBlobs(t) {
			if namedBlob.hash == hash {
				return fmt.Sprintf("%s (%s)", hash, namedBlob.what)
			}
		}
	}
	return string(hash)
}

// newDamage describes an error of the store as damage, with advice.
func (v *Verifier) newDamage(what, where string, err error) view.Damage {
	damage := view.Damage{Code: company.ELedger, What: what, Where: where, Why: err.Error()}
	var fault *company.Error
	if errors.As(err, &fault) && fault.Why != "" {
		damage.Why = fault.Why
	} else if fault != nil && fault.Err != nil {
		damage.Why = fault.Err.Error()
	}
	state := v.Office.State
	damage.Fix = fmt.Sprintf("copy %s as it is, end the company, and %s", state, company.PutCopyBack(state))
	if what == "ledger" {
		damage.Fix += "; without a copy the work goes on only while " + state + "/snapshot is there, so leave it"
		return damage
	}
	if hash, _, _ := strings.Cut(where, " "); len(hash) == 2*sha256.Size {
		damage.Fix += ", or of " + v.Office.BusFolder.Join("blobs/"+hash[:2]+"/"+hash[2:]) + " alone"
	}
	damage.Fix += "; the work goes on without it, and what it holds cannot be shown"
	return damage
}
