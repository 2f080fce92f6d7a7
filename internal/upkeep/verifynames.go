package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
)

// How many bytes of a step looking for one blob counts as, and reading one archive. A look reads
// the whole of a small blob, of up to 128 KiB.
const (
	nameCost    = 32 << 10
	archiveCost = 1 << 20
)

// findMissing looks for the blobs that tasks, archives, journals and verdicts name, those of
// some tasks at a step. done: none is left.
func (v *Verifier) findMissing(ctx context.Context, p *verification) (done bool, err error) {
	k := v.newPolicy()
	f := &nameFinder{v, p, k, 0, removedRuns{ledger: v.Ledger, state: k.state}}
	ids := slices.AppendSeq(slices.Collect(maps.Keys(k.state.Tasks)), maps.Keys(k.state.Past))
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id <= p.Task {
			continue
		}
		if f.cost >= bytesPerStep {
			return false, nil
		}
		if err := f.findOfTask(ctx, id); err != nil {
			return false, err
		}
		p.Task = id
	}
	return f.findOfOffice(ctx)
}

// nameFinder looks for blobs by the names that the office has of them.
type nameFinder struct {
	*Verifier
	p    *verification
	k    retentionPolicy
	cost int64 // in bytes, of this step

	removed removedRuns
}

// findBlob notes a blob that is missing, or that damage may hide, unless a cleanup has removed it.
func (f *nameFinder) findBlob(ctx context.Context, n namedBlob) error {
	f.cost += nameCost
	has, err := f.Ledger.HasBlob(ctx, n.hash)
	where := fmt.Sprintf("%s (%s)", n.hash, n.what)
	if err == nil && !has || errors.Is(err, bus.ErrNotFound) {
		if removed, findErr := f.removed.isRemoved(ctx, n.run); removed || findErr != nil {
			return findErr
		}
	}
	switch {
	case company.CodeOf(err) == company.ELedger:
		f.p.add(f.newDamage("blob", where, err))
	case err != nil:
		return err
	case !has:
		f.p.add(f.newDamage("blob", where, company.E(company.ELedger, "").Because("it is not there")))
	}
	return nil
}

// findOfTask looks for the blobs of a task, or of an archive of tasks.
func (f *nameFinder) findOfTask(ctx context.Context, id company.TaskID) error {
	var tasks []*company.Task
	if t := f.k.state.Tasks[id]; t != nil {
		tasks = append(tasks, t)
	}
	if past := f.k.state.Past[id]; past != nil && past.Blob != "" {
		if err := f.findBlob(ctx, namedBlob{past.Blob, "the archive of " + string(id), nil}); err != nil {
			return err
		}
		if a, err := f.State.LoadArchive(ctx, id); err == nil { // else it is damaged, and known to be
			tasks = append(tasks, a.Tasks...)
			f.cost += archiveCost
		}
	}
	for _, t := range tasks {
		for _, n := range f.k.taskBlobs(t) {
			if err := f.findBlob(ctx, n); err != nil {
				return err
			}
		}
		if f.k.isTaskFinished(t.ID) {
			continue
		}
		for _, r := range t.Runs {
			if err := errors.Join(f.findOfJournal(ctx, r), f.findOfResult(ctx, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findOfResult looks for the transcript that the result of a run names. A result that cannot be
// read is damaged, and known to be.
func (f *nameFinder) findOfResult(ctx context.Context, r *company.Run) error {
	if r.Result == "" {
		return nil
	}
	text, err := f.Ledger.GetBlob(ctx, r.Result, bytesPerStep)
	switch code := company.CodeOf(err); {
	case code == company.ELedger || code == company.ENotFound || code == company.EInvalid:
		return nil
	case err != nil:
		return err
	}
	f.cost += int64(len(text))
	var result struct{ Transcript company.Hash }
	if json.Unmarshal(text, &result) != nil || result.Transcript == "" {
		return nil
	}
	return f.findBlob(ctx, namedBlob{result.Transcript, "the transcript of run " + string(r.ID), r})
}

// findOfJournal looks for the blobs that a sealed journal names. One that cannot be read is
// damaged, and known to be.
func (f *nameFinder) findOfJournal(ctx context.Context, r *company.Run) error {
	if r.Journal == "" {
		return nil
	}
	var refused error
	err := f.Ledger.ReadSealed(ctx, r.Journal, func(rec ledger.Record) error {
		refused = f.findOfRecord(ctx, r, rec)
		return refused
	})
	if code := company.CodeOf(err); refused == nil && (code == company.ELedger || code == company.ENotFound) {
		return nil
	}
	return err
}

// findOfRecord looks for the blobs that a record of a journal names.
func (f *nameFinder) findOfRecord(ctx context.Context, run *company.Run, rec ledger.Record) error {
	f.cost += int64(len(rec.Data))
	for _, h := range payloadNames(rec.Data) {
		if err := f.findBlob(ctx, namedBlob{h, "a record in the journal of run " + string(run.ID), run}); err != nil {
			return err
		}
	}
	return nil
}

// payloadNames is the blobs that a record keeps its long texts in. What else looks like the name
// of a blob may be a text of a model.
func payloadNames(data []byte) (names []company.Hash) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	for _, key := range []string{"system", "first", "shown", "message", "result", "answer", "digest"} {
		var text struct{ Blob company.Hash }
		if json.Unmarshal(fields[key], &text) == nil && text.Blob != "" {
			names = append(names, text.Blob)
		}
	}
	var whole company.Hash
	if json.Unmarshal(fields["whole"], &whole) == nil && whole != "" {
		names = append(names, whole)
	}
	return names
}

// findOfOffice looks for the blobs that journals on the bus and cached verdicts name, those of
// some at a step. done: none is left.
func (f *nameFinder) findOfOffice(ctx context.Context) (done bool, err error) {
	runs, err := f.Ledger.Journals(ctx)
	if err != nil {
		return false, err
	}
	slices.Sort(runs)
	for _, run := range runs {
		if run <= f.p.Journal {
			continue
		}
		if f.cost >= bytesPerStep {
			return false, nil
		}
		if err := f.findOfBusJournal(ctx, run); err != nil {
			return false, err
		}
		f.p.Journal = run
	}
	for _, key := range slices.Sorted(maps.Keys(f.k.state.GateResults)) {
		if key <= f.p.Verdict {
			continue
		}
		if f.cost >= bytesPerStep {
			return false, nil
		}
		if err := f.findOfVerdict(ctx, f.k.state.GateResults[key]); err != nil {
			return false, err
		}
		f.p.Verdict = key
	}
	return true, nil
}

// findOfBusJournal looks for the blobs that a journal on the bus names.
func (f *nameFinder) findOfBusJournal(ctx context.Context, run company.RunID) error {
	f.cost += nameCost
	err := f.Ledger.ReadJournal(ctx, run, func(rec ledger.Record) error { return f.findOfRecord(ctx, &company.Run{ID: run}, rec) })
	if company.CodeOf(err) == company.ELedger {
		f.p.add(f.newDamage("blob", "the journal of run "+string(run), err))
		return nil
	}
	return err
}

// findOfVerdict looks for the blobs that a cached verdict names.
func (f *nameFinder) findOfVerdict(ctx context.Context, r company.GateResult) error {
	for _, c := range r.Checks {
		for _, h := range []company.Hash{c.Log, c.Names} {
			if h == "" {
				continue
			}
			if err := f.findBlob(ctx, namedBlob{h, "the output of " + c.Name + ", kept with a verdict", nil}); err != nil {
				return err
			}
		}
	}
	return nil
}
