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

// maxResult limits the result of a run that is read, in bytes.
const maxResult = 8 << 20

// findMissing checks the blobs that tasks, archives, journals and verdicts refer to.
func (p *verification) findMissing(ctx context.Context) error {
	p.policy = p.newPolicy()
	p.removed = removedRuns{ledger: p.Ledger, state: p.policy.state}
	ids := slices.AppendSeq(slices.Collect(maps.Keys(p.policy.state.Tasks)), maps.Keys(p.policy.state.Past))
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := p.findOfTask(ctx, id); err != nil {
			return err
		}
	}
	runs, err := p.Ledger.Journals(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := p.findOfBusJournal(ctx, run); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.policy.state.GateResults)) {
		if err := p.findOfVerdict(ctx, p.policy.state.GateResults[key]); err != nil {
			return err
		}
	}
	return nil
}

// findBlob records a blob that is missing or damaged, unless a cleanup removed it.
func (p *verification) findBlob(ctx context.Context, n namedBlob) error {
	has, err := p.Ledger.HasBlob(ctx, n.hash)
	where := fmt.Sprintf("%s (%s)", n.hash, n.what)
	if err == nil && !has {
		if removed, findErr := p.removed.isRemoved(ctx, n.run); removed || findErr != nil {
			return findErr
		}
	}
	switch {
	case company.CodeOf(err) == company.ELedger:
		p.add(p.newDamage("blob", where, err))
	case err != nil:
		return err
	case !has:
		p.add(p.newDamage("blob", where, company.E(company.ELedger, "").Because("it is missing")))
	}
	return nil
}

// findOfTask checks the blobs of a task, or of an archive of tasks.
func (p *verification) findOfTask(ctx context.Context, id company.TaskID) error {
	var tasks []*company.Task
	if t := p.policy.state.Tasks[id]; t != nil {
		tasks = append(tasks, t)
	}
	if past := p.policy.state.Past[id]; past != nil && past.Blob != "" {
		if err := p.findBlob(ctx, namedBlob{past.Blob, "the archive of " + string(id), nil}); err != nil {
			return err
		}
		if a, err := p.State.LoadArchive(ctx, id); err == nil { // a damaged archive is already reported
			tasks = append(tasks, a.Tasks...)
		}
	}
	for _, task := range tasks {
		for _, n := range p.policy.taskBlobs(task) {
			if err := p.findBlob(ctx, n); err != nil {
				return err
			}
		}
		if p.policy.isTaskFinished(task.ID) {
			continue
		}
		for _, r := range task.Runs {
			if err := errors.Join(p.findOfJournal(ctx, r), p.findOfResult(ctx, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findOfResult checks the transcript of a run. It skips a result that cannot be read, because that damage is already
// reported.
func (p *verification) findOfResult(ctx context.Context, run *company.Run) error {
	if run.Result == "" {
		return nil
	}
	text, err := p.Ledger.GetBlob(ctx, run.Result, maxResult)
	switch code := company.CodeOf(err); {
	case code == company.ELedger || code == company.ENotFound || code == company.EInvalid:
		return nil
	case err != nil:
		return err
	}
	var result struct{ Transcript company.Hash }
	if json.Unmarshal(text, &result) != nil || result.Transcript == "" {
		return nil
	}
	return p.findBlob(ctx, namedBlob{result.Transcript, "the transcript of run " + string(run.ID), run})
}

// findOfJournal checks the blobs that a sealed journal refers to. It skips a journal that cannot be read, because that
// damage is already reported.
func (p *verification) findOfJournal(ctx context.Context, run *company.Run) error {
	if run.Journal == "" {
		return nil
	}
	var refused error
	err := p.Ledger.ReadSealed(ctx, run.Journal, func(rec ledger.Record) error {
		refused = p.findOfRecord(ctx, run, rec)
		return refused
	})
	if code := company.CodeOf(err); refused == nil && (code == company.ELedger || code == company.ENotFound) {
		return nil
	}
	return err
}

// findOfRecord checks the blobs that a record of a journal refers to.
func (p *verification) findOfRecord(ctx context.Context, run *company.Run, rec ledger.Record) error {
	for _, h := range payloadNames(rec.Data) {
		if err := p.findBlob(ctx, namedBlob{h, "a record in the journal of run " + string(run.ID), run}); err != nil {
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
	for _, key := range []string{"system", "first", "shown", "message", "result", "answer", "digest", "text", "args",
		"home"} {
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

// findOfBusJournal checks the blobs that a journal on the bus refers to.
func (p *verification) findOfBusJournal(ctx context.Context, run company.RunID) error {
	err := p.Ledger.ReadJournal(ctx, run,
		func(rec ledger.Record) error { return p.findOfRecord(ctx, &company.Run{ID: run}, rec) })
	if company.CodeOf(err) == company.ELedger {
		p.add(p.newDamage("blob", "the journal of run "+string(run), err))
		return nil
	}
	return err
}

// findOfVerdict checks the blobs that a cached verdict refers to.
func (p *verification) findOfVerdict(ctx context.Context, r company.GateResult) error {
	for _, gateCheck := range r.Checks {
		for _, hash := range []company.Hash{gateCheck.Log, gateCheck.Names} {
			if hash == "" {
				continue
			}
			if err := p.findBlob(
				ctx, namedBlob{hash, "the output of " + gateCheck.Name + ", kept with a verdict", nil}); err != nil {
				return err
			}
		}
	}
	return nil
}
