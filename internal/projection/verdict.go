package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"company/internal/company"
	"company/internal/runfiles"
)

// verdict is what the gates have found about the work of a run, and what became of the
// run's status by it. The run had ended before: its result lacks both.
type verdict struct {
	gate   *company.GateFinished
	status company.RunStatus
}

// isAbout says whether a verdict is about a run: about its head, or about what a merger has
// made of that, where the run has its status by it.
func isAbout(r *company.Run, gate *company.GateFinished) bool {
	return r.Head == gate.Head || r.Status == company.RunQualityFailed && !gate.Result.AllowsMerge()
}

// explainsStatus says whether a verdict goes with a status. One that could not be read does not, once
// the president has accepted it; nor does a green one whose tests showed nothing.
func explainsStatus(gate *company.GateResult, status company.RunStatus) bool {
	return gate.AllowsMerge() == (status != company.RunQualityFailed)
}

// replacesVerdict says whether a verdict takes the place of one by which the run has the same status.
func replacesVerdict(gate, was *company.GateResult, status company.RunStatus) bool {
	return explainsStatus(gate, status) && !explainsStatus(was, status)
}

// noteVerdict notes the verdict on the newest run of a subtask, if there is one. The caller
// holds mu.
func (p *Projector) noteVerdict(t *company.Task, sub *company.Subtask) {
	if sub == nil || sub.Gate == nil {
		return
	}
	r := t.Runs[company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)]
	if r == nil || !r.Ended || !isAbout(r, sub.Gate) {
		return
	}
	was, is := p.verdicts[r.ID]
	if !is || was.status != r.Status || replacesVerdict(&sub.Gate.Result, &was.gate.Result, r.Status) {
		p.verdicts[r.ID] = verdict{sub.Gate, r.Status}
	}
}

// retryVerdicts notes again what could not be written. The caller holds mu.
func (p *Projector) retryVerdicts() {
	for id, v := range p.failed {
		if _, is := p.verdicts[id]; !is {
			p.verdicts[id] = v
		}
		delete(p.failed, id)
	}
}

// errNoResult is why a result cannot be changed that is none.
var errNoResult = errors.New("it is no result")

// writeVerdict has a verdict written into the result of its run, behind the result itself. One
// that is there stays where the run has the same status by it.
func (p *Projector) writeVerdict(id company.RunID, v verdict) {
	p.files.Edit(id, runfiles.ResultFile, runfiles.Edit{
		Change: func(old []byte) ([]byte, error) { return p.addVerdict(id, old, v) },
		Done:   func(found bool, err error) { p.endVerdict(id, v, found, err) },
	})
}

// endVerdict takes what became of a verdict. One that the disk did not take is tried again after
// the next event.
func (p *Projector) endVerdict(id company.RunID, v verdict, found bool, err error) {
	switch {
	case errors.Is(err, errNoResult): // each flush finds it again: it is not logged
		p.NoteRunFile(id, runfiles.ResultFile, err)
		return
	case err == nil && found:
		p.NoteRunFile(id, runfiles.ResultFile, nil)
		return
	case err == nil:
		return // its folder was cleaned up; the ledger has it all
	}
	p.noteWritten(id, runfiles.ResultFile, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.failed) < maxReports {
		p.failed[id] = v
	}
}

// addVerdict gives a result its verdict.
// Nil: it has one.
func (p *Projector) addVerdict(id company.RunID, old []byte, v verdict) ([]byte, error) {
	res, err := p.parseResult(id, old)
	if err != nil {
		return nil, err
	}
	if res.Status == company.RunQualityFailed && v.status != res.Status {
		return nil, nil // it is of an earlier moment: no event takes this back
	}
	if res.QualityGates != nil && res.Status == v.status && !replacesVerdict(&v.gate.Result, res.QualityGates, v.status) {
		return nil, nil
	}
	res.QualityGates, res.Status = &v.gate.Result, v.status
	return res.Marshal()
}

func (p *Projector) parseResult(id company.RunID, text []byte) (*runfiles.ExecutionResult, error) {
	var res runfiles.ExecutionResult
	if err := json.Unmarshal(text, &res); err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", p.office.RunsFolder.Join(string(id)+"/"+runfiles.ResultFile), errNoResult, err)
	}
	return &res, nil
}

// lacksVerdict says whether the result of a run has no verdict, or not the status that the run has
// by one, though the state does not have it any more.
func (p *Projector) lacksVerdict(t *company.Task, r *company.Run) bool {
	if r.Role != company.Worker || r.Head == "" || r.Status != company.RunSuccess && r.Status != company.RunQualityFailed {
		return false
	}
	sub := t.Subtask(r.Subtask)
	if sub != nil && r.ID == company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started) && (sub.Gate != nil || sub.Status == company.SubtaskInGate) {
		return false // the state has it, or it is to come
	}
	text, err := p.office.RunsFolder.ReadFile(string(r.ID)+"/"+runfiles.ResultFile, maxRunFile)
	if err != nil {
		return false // its folder was cleaned up; the ledger has it all
	}
	res, err := p.parseResult(r.ID, text)
	return err == nil && (res.QualityGates == nil || res.Status != r.Status)
}

// restoreVerdicts notes the verdicts on runs whose results lack them: an earlier process was
// killed before it wrote them. Of the newest run of a ticket the state has it, of those before
// it the ledger alone.
func (p *Projector) restoreVerdicts(ctx context.Context, t *company.Task, runs []*company.Run) {
	lacking := map[company.RunID]*company.Run{}
	for _, r := range runs {
		if p.lacksVerdict(t, r) {
			lacking[r.ID] = r
		}
	}
	found := map[company.RunID]verdict{}
	if len(lacking) > 0 {
		if err := p.record.ReadTask(ctx, t.ID, 1, collectVerdicts(lacking, found)); err != nil {
			if ctx.Err() == nil {
				p.log.WarnContext(ctx, "verdicts are not brought into results", "task_id", t.ID, "err", err)
			}
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, v := range found {
		if _, is := p.verdicts[id]; !is { // what was noted is newer
			p.verdicts[id] = v
		}
	}
	for _, r := range runs {
		p.noteVerdict(t, t.Subtask(r.Subtask)) // of those that were made again
	}
	p.wakeUp()
}

// The kinds of the events that make a verdict, and say of which run.
var (
	kindRunEnded     = (*company.RunEnded).Kind(nil)
	kindGateFinished = (*company.GateFinished).Kind(nil)
	kindMergeGated   = (*company.MergeGated).Kind(nil)
)

// collectVerdicts finds the verdicts on runs among the events of their task: as they would have
// been written one after the other.
func collectVerdicts(lacking map[company.RunID]*company.Run, found map[company.RunID]verdict) func(company.Event) error {
	newest := map[company.SubtaskID]company.RunID{}
	return func(e company.Event) error {
		switch e.Kind {
		case kindRunEnded, kindGateFinished, kindMergeGated:
		default:
			return nil
		}
		d, err := company.Decode(e)
		if err != nil {
			return err
		}
		var gate *company.GateFinished
		switch d := d.(type) {
		case *company.RunEnded:
			if _, sub, role, _, err := e.Run.Split(); err == nil && role == company.Worker {
				newest[sub] = e.Run
			}
			return nil
		case *company.GateFinished:
			gate = d
		case *company.MergeGated:
			gate = &d.GateFinished
		}
		r := lacking[newest[e.Subtask]]
		if r == nil || !isAbout(r, gate) {
			return nil
		}
		was, is := found[r.ID]
		// A red one is the last that its run has.
		if !is || replacesVerdict(&gate.Result, &was.gate.Result, r.Status) || r.Status == company.RunQualityFailed && explainsStatus(&gate.Result, r.Status) {
			found[r.ID] = verdict{gate, r.Status}
		}
		return nil
	}
}
