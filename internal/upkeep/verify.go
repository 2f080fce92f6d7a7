package upkeep

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
	"company/internal/present/view"
)

// Verifier reads the whole ledger and every blob of an office, and checks them against their hashes. A start only
// reads the events after the snapshot, and blobs are read on demand, so only a verifier finds damage elsewhere.
type Verifier struct {
	Ledger *ledger.Ledger
	State  State
	Office *office.Office
}

// maxFound limits the damage that is listed. A failing disk damages thousands of files, and the first ones show it.
const maxFound = 100

// verification collects the results of one verification.
type verification struct {
	*Verifier
	result  view.Verification
	policy  retentionPolicy // with the cleanups before findMissing
	removed removedRuns
}

// Run verifies everything and returns the damage.
func (v *Verifier) Run(ctx context.Context) (view.Verification, error) {
	p := &verification{Verifier: v, result: view.Verification{SchemaVersion: 1, Damage: []view.Damage{}}}
	for _, step := range []func(context.Context) error{p.readLedger, p.readBlobs, p.findMissing} {
		if err := step(ctx); err != nil {
			return view.Verification{}, err
		}
	}
	return p.result, nil
}

// add records damage, without duplicates.
func (p *verification) add(damage view.Damage) {
	if len(p.result.Damage) < maxFound && !slices.ContainsFunc(p.result.Damage, damage.IsSame) {
		p.result.Damage = append(p.result.Damage, damage)
	}
}

func (p *verification) readLedger(ctx context.Context) error {
	at, err := p.Ledger.FindLastIntact(ctx)
	p.result.Events = at.Seq
	if company.CodeOf(err) == company.ELedger {
		p.add(p.newDamage("ledger", fmt.Sprintf("event %d, and perhaps later ones", at.Seq+1), err))
		return nil
	}
	return err
}

func (p *verification) readBlobs(ctx context.Context) error {
	return p.Ledger.Blobs(ctx, "", func(blobInfo bus.BlobInfo) error {
		hash := company.Hash(blobInfo.Hash)
		err := p.Ledger.VerifyBlob(ctx, hash)
		switch code := company.CodeOf(err); {
		case err == nil, errors.Is(err, bus.ErrNotFound): // removed meanwhile
		case code == company.ELedger:
			p.add(p.newDamage("blob", p.describeBlob(hash), err))
		default:
			return err
		}
		p.result.Blobs++
		p.result.Bytes += blobInfo.Size
		return nil
	})
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
