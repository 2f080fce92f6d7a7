package projection

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/company"
	"company/internal/runfiles"
)

// verdict is what the gates have found about the head of a run, and what became of the
// run's status by it. The run had ended before: its result lacks both.
type verdict struct {
	gate   *company.GateFinished
	status company.RunStatus
}

// noteVerdict notes the verdict on the newest run of a subtask, if there is one. The caller
// holds mu.
func (p *Projector) noteVerdict(t *company.Task, sub *company.Subtask) {
	if sub == nil || sub.Gate == nil {
		return
	}
	r := t.Runs[company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)]
	if r == nil || !r.Ended || r.Head != sub.Gate.Head {
		return
	}
	if was, is := p.verdicts[r.ID]; !is || was.status != r.Status {
		p.verdicts[r.ID] = verdict{sub.Gate, r.Status}
	}
}

// writeVerdict writes a verdict into the result of its run, unless one is there by which the
// run has this status. Its error is that of a result that cannot be read.
func (p *Projector) writeVerdict(id company.RunID, v verdict) error {
	res, err := p.readResult(id)
	if err != nil || res == nil || res.QualityGates != nil && res.Status == v.status {
		return err
	}
	res.QualityGates, res.Status = &v.gate.Result, v.status
	text, err := res.Marshal()
	if err == nil {
		p.files.Put(id, runfiles.ResultFile, text)
	}
	return err
}

// readResult reads the result of a run. Nil: there is none, since the run's folder was
// cleaned up; the ledger has it all.
func (p *Projector) readResult(id company.RunID) (*runfiles.ExecutionResult, error) {
	runs, name := p.office.RunsFolder, string(id)+"/"+runfiles.ResultFile
	text, err := runs.ReadFile(name, 0)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	var res runfiles.ExecutionResult
	if err := json.Unmarshal(text, &res); err != nil {
		return nil, fmt.Errorf("read %s: %w", runs.Join(name), err)
	}
	return &res, nil
}

// restoreVerdicts notes the verdicts on runs whose results lack them: an earlier process was
// killed before it wrote them. Of the newest run of a ticket the state has it, of those before
// it the ledger alone.
func (p *Projector) restoreVerdicts(ctx context.Context, t *company.Task, runs []*company.Run) {
	lacking := map[company.RunID]*company.Run{}
	for _, r := range runs {
		if r.Role != company.Worker || r.Head == "" {
			continue
		}
		if res, err := p.readResult(r.ID); err == nil && res != nil && (res.QualityGates == nil || res.Status != r.Status) {
			lacking[r.ID] = r
		}
	}
	if len(lacking) == 0 {
		return
	}
	found := map[company.RunID]verdict{}
	newest := map[company.SubtaskID]company.RunID{}
	err := p.record.ReadTask(ctx, t.ID, 1, func(e company.Event) error {
		var gate company.GateFinished
		switch e.Kind {
		case (&company.RunEnded{}).Kind():
			if _, sub, role, _, err := e.Run.Split(); err == nil && role == company.Worker {
				newest[sub] = e.Run
			}
			return nil
		case (&company.GateFinished{}).Kind(), (&company.MergeGated{}).Kind():
			if err := json.Unmarshal(e.Data, &gate); err != nil {
				return err
			}
		default:
			return nil
		}
		r := lacking[newest[e.Subtask]]
		if r == nil || r.Head != gate.Head {
			return nil
		}
		// The first one stays, but for one by which the run has its status.
		red := r.Status == company.RunQualityFailed
		if was, is := found[r.ID]; !is || was.gate.Result.AllowsMerge() == red && gate.Result.AllowsMerge() != red {
			found[r.ID] = verdict{&gate, r.Status}
		}
		return nil
	})
	if err != nil {
		if ctx.Err() == nil {
			p.log.WarnContext(ctx, "verdicts are not brought into results", "task_id", t.ID, "err", err)
		}
		return
	}
	p.mu.Lock()
	for id, v := range found {
		if _, is := p.verdicts[id]; !is { // what was noted is newer
			p.verdicts[id] = v
		}
	}
	p.mu.Unlock()
	p.wakeUp()
}
