package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ledger"
)

// The cost of checking one blob and of reading one archive, in bytes of a step. A check reads the whole of a small
// blob, up to 128 KiB.
const (
	nameCost    = 32 << 10
	archiveCost = 1 << 20
)

// findMissing checks the blobs that tasks, archives, journals and verdicts refer to, some tasks in each step. done
// reports that all were checked.
func (v *Verifier) findMissing(ctx context.Context, p *verification) (done bool, err error) {
	policy := v.newPolicy()
	f := &nameFinder{v, p, policy, 0, removedRuns{ledger: v.Ledger, state: policy.state}}
	ids := slices.AppendSeq(slices.Collect(maps.Keys(policy.state.Tasks)), maps.Keys(policy.state.Past))
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

// nameFinder checks the blobs that the office refers to.
type nameFinder struct {
	*Verifier
	p    *verification
	k    retentionPolicy
	cost int64 // of this step, in bytes

	removed removedRuns
}

// findBlob records a blob that is missing or damaged, unless a cleanup removed it.
func (f *nameFinder) findBlob(ctx context.Context, n namedBlob) error {
	f.cost += nameCost
	has, err := f.Ledger.HasBlob(ctx, n.hash)
	where := fmt.Sprintf("%s (%s)", n.hash, n.what)
	if err == nil && !has {
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

// findOfTask checks the blobs of a task, or of an archive of tasks.
func (f *nameFinder) findOfTask(ctx context.Context, id company.TaskID) error {
	var tasks []*company.Task
	if t := f.k.state.Tasks[id]; t != nil {
		tasks = append(tasks, t)
	}
	if past := f.k.state.Past[id]; past != nil && past.Blob != "" {
		if err := f.findBlob(ctx, namedBlob{past.Blob, "the archive of " + string(id), nil}); err != nil {
			return err
		}
		if a, err := f.State.LoadArchive(ctx, id); err == nil { // a damaged archive is already reported
			tasks = append(tasks, a.Tasks...)
			f.cost += archiveCost
		}
	}
	for _, task := range tasks {
		for _, n := range f.k.taskBlobs(task) {
			if err := f.findBlob(ctx, n); err != nil {
				return err
			}
		}
		if f.k.isTaskFinished(task.ID) {
			continue
		}
		for _, r := range task.Runs {
			if err := errors.Join(f.findOfJournal(ctx, r), f.findOfResult(ctx, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findOfResult checks the transcript of a run. It skips a result that cannot be read, because that damage is already
// reported.
func (f *nameFinder) findOfResult(ctx context.Context, run *company.Run) error {
	if run.Result == "" {
		return nil
	}
	text, err := f.Ledger.GetBlob(ctx, run.Result, bytesPerStep)
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
	return f.findBlob(ctx, namedBlob{result.Transcript, "the transcript of run " + string(run.ID), run})
}

// findOfJournal checks the blobs that a sealed journal refers to. It skips a journal that cannot be read, because that
// damage is already reported.
func (f *nameFinder) findOfJournal(ctx context.Context, run *company.Run) error {
	if run.Journal == "" {
		return nil
	}
	var refused error
	err := f.Ledger.ReadSealed(ctx, run.Journal, func(rec ledger.Record) error {
		refused = f.findOfRecord(ctx, run, rec)
		return refused
	})
	if code := company.CodeOf(err); refused == nil && (code == company.ELedger || code == company.ENotFound) {
		return nil
	}
	return err
}

// findOfRecord checks the blobs that a record of a journal refers to.
func (f *nameFinder) findOfRecord(ctx context.Context, run *company.Run, rec ledger.Record) error {
	f.cost += int64(len(rec.Data))
	for _, h := range payloadNames(rec.Data) {
		if err := f.findBlob(ctx, namedBlob{h, "a record in the journal of run " + string(run.ID), run}); err != nil {
			return err
		}
	}
	return nil
}

// payloadNames returns the blobs that contain the long texts of a record. It only looks at these fields, because a
// model's text may contain what looks like a blob name.
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

// findOfOffice checks the blobs that journals on the bus and cached verdicts refer to, some in each step. done reports
// that all were checked.
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

// findOfBusJournal checks the blobs that a journal on the bus refers to.
func (f *nameFinder) findOfBusJournal(ctx context.Context, run company.RunID) error {
	f.cost += nameCost
	err := f.Ledger.ReadJournal(ctx, run,
		func(rec ledger.Record) error { return f.findOfRecord(ctx, &company.Run{ID: run}, rec) })
	if company.CodeOf(err) == company.ELedger {
		f.p.add(f.newDamage("blob", "the journal of run "+string(run), err))
		return nil
	}
	return err
}

// findOfVerdict checks the blobs that a cached verdict refers to.
func (f *nameFinder) findOfVerdict(ctx context.Context, r company.GateResult) error {
	for _, gateCheck := range r.Checks {
		for _, hash := range []company.Hash{gateCheck.Log, gateCheck.Names} {
			if hash == "" {
				continue
			}
			if err := f.findBlob(
				ctx, namedBlob{hash, "the output of " + gateCheck.Name + ", kept with a verdict", nil}); err != nil {
				return err
			}
		}
	}
	return nil
}
