package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
)

// verdict is the result of the gates on a run's work, with the resulting status of the run. The run ended earlier, so
// its result file lacks both.
type verdict struct {
	gate   *company.GateFinished
	status company.RunStatus
}

// isAbout reports whether a verdict is about a run: it names the run's head, or it rejects the commit that the merger
// made of that head and is the reason for the run's status.
func isAbout(r *company.Run, gate *company.GateFinished) bool {
	return r.Head == gate.Head || r.Status == company.RunQualityFailed && !gate.Result.AllowsMerge()
}

// explainsStatus reports whether a verdict agrees with a status. An unreadable verdict that the president accepted
// does not, and neither does a green one whose tests proved no change.
func explainsStatus(gate *company.GateResult, status company.RunStatus) bool {
	return gate.AllowsMerge() == (status != company.RunQualityFailed)
}

// replacesVerdict reports whether a verdict explains the status of the run and the earlier one does not.
func replacesVerdict(gate, was *company.GateResult, status company.RunStatus) bool {
	return explainsStatus(gate, status) && !explainsStatus(was, status)
}

// noteVerdict records the verdict for the newest run of a subtask, if there is one. The caller holds mu.
func (p *Projector) noteVerdict(task *company.Task, sub *company.Subtask) {
	if sub == nil || sub.Gate == nil {
		return
	}
	run := task.Runs[company.NewRunID(task.ID, sub.ID, company.Worker, sub.Started)]
	if run == nil || !run.Ended || !isAbout(run, sub.Gate) {
		return
	}
	was, is := p.verdicts[run.ID]
	if !is || was.status != run.Status || replacesVerdict(&sub.Gate.Result, &was.gate.Result, run.Status) {
		p.verdicts[run.ID] = verdict{sub.Gate, run.Status}
	}
}

// retryVerdicts queues verdicts again that could not be written. The caller holds mu.
func (p *Projector) retryVerdicts() {
	for id, verdict := range p.failed {
		if _, is := p.verdicts[id]; !is {
			p.verdicts[id] = verdict
		}
		delete(p.failed, id)
	}
}

// errNoResult reports a result file that cannot be parsed, and so cannot be changed.
var errNoResult = errors.New("it is not a result")

// writeVerdict queues a change that adds a verdict to the result file of its run. It runs after the write of the
// result itself. A verdict that is already there is kept if it has the same status.
func (p *Projector) writeVerdict(id company.RunID, v verdict) {
	p.files.Edit(id, runfiles.ResultFile, runfiles.Edit{
		Change: func(old []byte) ([]byte, error) { return p.addVerdict(id, old, v) },
		Done:   func(found bool, err error) { p.endVerdict(id, v, found, err) },
	})
}

// endVerdict handles the outcome of writing a verdict. A failed write is tried again after the next event.
func (p *Projector) endVerdict(id company.RunID, v verdict, found bool, err error) {
	switch {
	case errors.Is(err, errNoResult): // each flush fails the same way, so it is not logged
		p.NoteRunFile(id, runfiles.ResultFile, err)
		return
	case err == nil && found:
		p.NoteRunFile(id, runfiles.ResultFile, nil)
		return
	case err == nil:
		return // its folder was cleaned up; the ledger still has the verdict
	}
	p.noteWritten(id, runfiles.ResultFile, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.failed) < maxReports {
		p.failed[id] = v
	}
}

// addVerdict returns the result with the verdict added. It returns nil if the result needs no change.
func (p *Projector) addVerdict(id company.RunID, old []byte, v verdict) ([]byte, error) {
	res, err := p.parseResult(id, old)
	if err != nil {
		return nil, err
	}
	if res.Status == company.RunQualityFailed && v.status != res.Status {
		return nil, nil // it comes from an earlier moment, and no event reverts this status
	}
	if res.QualityGates != nil && res.Status == v.status &&
		!replacesVerdict(&v.gate.Result, &res.QualityGates.GateResult, v.status) {
		return nil, nil
	}
	res.QualityGates, res.Status = runfiles.NewQualityGates(v.gate.Result), v.status
	return res.Marshal()
}

func (p *Projector) parseResult(id company.RunID, text []byte) (*runfiles.ExecutionResult, error) {
	var res runfiles.ExecutionResult
	if err := json.Unmarshal(text, &res); err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", p.office.RunsFolder.Join(string(id)+"/"+runfiles.ResultFile),
			errNoResult, err)
	}
	return &res, nil
}

// lacksVerdict reports whether the result file of a run lacks its verdict, or lacks the status that follows from it,
// and the state no longer has the verdict.
func (p *Projector) lacksVerdict(task *company.Task, run *company.Run) bool {
	if run.Role != company.Worker || run.Head == "" ||
		run.Status != company.RunSuccess && run.Status != company.RunQualityFailed {
		return false
	}
	sub := task.Subtask(run.Subtask)
	if sub != nil && run.ID == company.NewRunID(task.ID, sub.ID, company.Worker, sub.Started) &&
		(sub.Gate != nil || sub.Status == company.SubtaskInGate) {
		return false // the state has it, or will have it
	}
	text, err := p.office.RunsFolder.ReadFile(string(run.ID)+"/"+runfiles.ResultFile, maxRunFile)
	if err != nil {
		return false // its folder was cleaned up; the ledger still has the verdict
	}
	res, err := p.parseResult(run.ID, text)
	return err == nil && (res.QualityGates == nil || res.Status != run.Status)
}

// restoreVerdicts queues verdicts for runs whose results lack them, because an earlier process was killed before it
// wrote them. The state has the verdict of a subtask's newest run. Only the ledger has those of earlier runs.
func (p *Projector) restoreVerdicts(ctx context.Context, task *company.Task, runs []*company.Run) {
	lacking := map[company.RunID]*company.Run{}
	for _, run := range runs {
		if p.lacksVerdict(task, run) {
			lacking[run.ID] = run
		}
	}
	found := map[company.RunID]verdict{}
	if len(lacking) > 0 {
		if err := p.record.ReadTask(ctx, task.ID, 1, collectVerdicts(lacking, found)); err != nil {
			if ctx.Err() == nil {
				p.log.WarnContext(ctx, "verdicts are not brought into results", "task_id", task.ID, "err", err)
			}
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, v := range found {
		if _, is := p.verdicts[id]; !is { // a verdict that is already noted is newer
			p.verdicts[id] = v
		}
	}
	for _, r := range runs {
		p.noteVerdict(task, task.Subtask(r.Subtask)) // for results that were restored
	}
	p.wakeUp()
}

// The kinds of events that carry a verdict or name its run.
var (
	kindRunEnded     = (*company.RunEnded).Kind(nil)
	kindGateFinished = (*company.GateFinished).Kind(nil)
	kindMergeGated   = (*company.MergeGated).Kind(nil)

	kindOfficeStopped = (*company.OfficeStopped).Kind(nil)
	kindOfficeResumed = (*company.OfficeResumed).Kind(nil)
)

// collectVerdicts returns a function that finds the verdicts on runs among the events of their task. It applies them
// in order, as they would have been written.
func collectVerdicts(
	lacking map[company.RunID]*company.Run, found map[company.RunID]verdict,
) func(company.Event) error {
	newest := map[company.SubtaskID]company.RunID{}
	return func(event company.Event) error {
		switch event.Kind {
		case kindRunEnded, kindGateFinished, kindMergeGated:
		default:
			return nil
		}
		data, err := company.Decode(event)
		if err != nil {
			return err
		}
		var gate *company.GateFinished
		switch d := data.(type) {
		case *company.RunEnded:
			if _, sub, role, _, err := event.Run.Split(); err == nil && role == company.Worker {
				newest[sub] = event.Run
			}
			return nil
		case *company.GateFinished:
			gate = d
		case *company.MergeGated:
			gate = &d.GateFinished
		}
		run := lacking[newest[event.Subtask]]
		if run == nil || !isAbout(run, gate) {
			return nil
		}
		was, is := found[run.ID]
		// A red verdict is the last one of its run.
		if !is || replacesVerdict(&gate.Result, &was.gate.Result, run.Status) ||
			run.Status == company.RunQualityFailed && explainsStatus(&gate.Result, run.Status) {
			found[run.ID] = verdict{gate, run.Status}
		}
		return nil
	}
}
