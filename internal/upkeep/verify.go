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
	"company/internal/feed"
	"company/internal/ledger"
	"company/internal/office"
	"company/internal/retry"
	"company/internal/view"
)

// Verifier reads the whole ledger and every blob of an office, and holds them to their
// hashes. A start reads the events after the snapshot alone, and a blob is read on
// demand: only a verifier finds damage elsewhere.
type Verifier struct {
	Ledger *ledger.Ledger
	State  State
	Office *office.Office
	Feed   Feed // gets each damage once
	Logger *slog.Logger

	mu     sync.Mutex
	damage []view.Damage // that is known; not read from its file yet: nil
	loaded bool
}

// Feed shows items to people.
type Feed interface{ PublishItem(feed.Item) }

// How a round goes about it. Between two steps it rests, so that work goes before.
const (
	verifyEvery    = 24 * time.Hour         // from the end of one round to the beginning of the next
	recordsPerStep = 512                    // of the ledger
	bytesPerStep   = 8 << 20                // of blobs; one blob may have more
	stepRest       = 200 * time.Millisecond // between two steps
	saveEvery      = 10 * time.Second       // how much reading a killed round does again
)

// Run reads everything at once, for a person at a terminal, and returns the damage.
func (v *Verifier) Run(ctx context.Context) (view.Verification, error) {
	var p verification
	for done := false; !done; {
		var err error
		if done, err = v.takeStep(ctx, &p); err != nil {
			return view.Verification{}, err
		}
	}
	return view.Verification{SchemaVersion: 1, Events: p.Ledger.Seq, Blobs: p.Blobs, Bytes: p.Bytes, Damage: append([]view.Damage{}, p.Found...)}, nil
}

// Job is the round of a serving company: once a day, a little at a time. It goes on
// where an earlier process stopped.
func (v *Verifier) Job() Job {
	return Job{Name: "verification", Interval: 15 * time.Minute, Limit: 24 * time.Hour, Run: func(ctx context.Context) error { return v.runRound(ctx, stepRest) }}
}

// Damage is what the newest rounds found that no later one has found whole.
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

// runRound does the rest of a round that has begun, or a new one where it is time.
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
			return v.saveProgress(p) // the next round goes on here
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
		v.Feed.PublishItem(feed.Item{Kind: "verification", Mark: feed.Done, Text: company.Count(mended, "damage") + " of before is mended"})
	}
	p.Ended, p.Damage = v.State.Now(), p.Found
	v.setDamage(p.Damage)
	v.Logger.Info("verified", "events", p.Ledger.Seq, "blobs", p.Blobs, "bytes", p.Bytes, "damage", len(p.Found))
	return v.saveProgress(p)
}

// reportDamage tells of damage that was not known.
func (v *Verifier) reportDamage(p *verification, found []view.Damage) {
	for _, d := range found {
		if slices.ContainsFunc(p.Damage, d.IsSame) {
			continue
		}
		p.Damage = append(p.Damage, d)
		v.Logger.Error("stored data is damaged", "code", d.Code, "what", d.What, "where", d.Where, "why", d.Why, "fix", d.Fix)
		v.Feed.PublishItem(feed.Item{Kind: "verification", Mark: feed.Needs, Text: d.Text(), Lines: []string{d.Fix}})
	}
	v.setDamage(p.Damage)
}

// takeStep reads a little further; done: everything was read.
func (v *Verifier) takeStep(ctx context.Context, p *verification) (done bool, err error) {
	switch {
	case !p.LedgerDone:
		return false, v.readLedger(ctx, p)
	case !p.BlobsDone:
		return false, v.readBlobs(ctx, p)
	case !p.PartsDone:
		return false, v.checkParts(ctx, p)
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

// errStep ends a step of a listing.
var errStep = errors.New("upkeep: enough for one step")

func (v *Verifier) readBlobs(ctx context.Context, p *verification) error {
	read := int64(0)
	err := v.Ledger.Blobs(ctx, p.Blob, func(b bus.BlobInfo) error {
		if read >= bytesPerStep {
			return errStep
		}
		hash := company.Hash(b.Hash)
		err := v.Ledger.VerifyBlob(ctx, hash)
		switch code := company.CodeOf(err); {
		case err == nil, errors.Is(err, bus.ErrNotFound): // it was removed meanwhile
		case code == company.ELedger:
			p.add(v.newDamage("blob", v.describeBlob(hash), err))
		default:
			return err
		}
		read += max(b.Size, 4<<10)
		p.Blob, p.Blobs, p.Bytes = hash, p.Blobs+1, p.Bytes+b.Size
		return nil
	})
	if errors.Is(err, errStep) {
		return nil
	}
	p.BlobsDone = err == nil
	return err
}

// checkParts looks at what the store keeps beside the bytes of blobs, a part at a step.
func (v *Verifier) checkParts(ctx context.Context, p *verification) error {
	part, err := v.Ledger.CheckBlobs(ctx, p.Part, func(d bus.BlobDamage) error {
		if d.Hash != "" {
			p.add(v.newHeadDamage(v.describeBlob(company.Hash(d.Hash))+" in "+d.Where, d.Why))
		} else {
			p.add(v.newDamage("blob", d.Where, company.E(company.ELedger, "").Because(d.Why)))
		}
		return nil
	})
	if err == nil {
		p.Part, p.PartsDone = part, part == ""
	}
	return err
}

// newPolicy is the one of the cleanups so far.
func (v *Verifier) newPolicy() retentionPolicy {
	return retentionPolicy{state: v.State.View(), office: v.Office}
}

// describeBlob is a blob with what names it, as far as the state knows.
func (v *Verifier) describeBlob(hash company.Hash) string {
	k := v.newPolicy()
	for id, past := range k.state.Past {
		if past.Blob == hash {
			return fmt.Sprintf("%s (the archive of %s)", hash, id)
		}
	}
	for _, t := range k.state.SortedTasks() {
		for _, n := range k.taskBlobs(t) {
			if n.hash == hash {
				return fmt.Sprintf("%s (%s)", hash, n.what)
			}
		}
	}
	return string(hash)
}

// newDamage is what an error says of the store.
func (v *Verifier) newDamage(what, where string, err error) view.Damage {
	d := view.Damage{Code: company.ELedger, What: what, Where: where, Why: err.Error()}
	var e *company.Error
	if errors.As(err, &e) && e.Why != "" {
		d.Why = e.Why
	} else if e != nil && e.Err != nil {
		d.Why = e.Err.Error()
	}
	state := v.Office.State
	d.Fix = fmt.Sprintf("copy %s as it is, end the company, and %s", state, company.PutCopyBack(state))
	if what == "ledger" {
		d.Fix = fmt.Sprintf("copy %s as it is, end the company, and run company bus repair; where it refuses, %s; without a copy the work goes on only while %s/snapshot is there, so leave it",
			state, company.PutCopyBack(state), state)
		return d
	}
	if file := v.findOwnFile(where); file != "" {
		d.Fix += ", or of " + file + " alone"
	}
	d.Fix += "; the work goes on without it, and what it holds cannot be shown"
	return d
}

// findOwnFile is the file of the one blob with which a place begins. "": it has none; an older
// copy of a pack lacks the blobs that came since.
func (v *Verifier) findOwnFile(where string) string {
	hash, _, _ := strings.Cut(where, " ")
	if len(hash) != 2*sha256.Size {
		return ""
	}
	file := "blobs/" + hash[:2] + "/" + hash[2:]
	if _, err := v.Office.BusFolder.Lstat(file); err != nil {
		return ""
	}
	return v.Office.BusFolder.Join(file)
}

// newHeadDamage is a damaged head of a blob that is found nevertheless.
func (v *Verifier) newHeadDamage(where, why string) view.Damage {
	return view.Damage{Code: company.ELedger, What: "blob", Where: where, Why: why,
		Fix: "leave it as it is, and put no copy back for it alone: nothing is lost. The disk or the memory changed a bit, so check both"}
}
