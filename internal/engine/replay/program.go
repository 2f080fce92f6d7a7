package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/agent"
	"company/internal/agentrun/agenttools"
	"company/internal/company"
)

// takeProgramRun ends the run of another program as its record says, with the recorded commit. Nothing of the program
// is run: it would not answer twice alike.
func (d *Director) takeProgramRun(ctx context.Context, job agent.Job, rec agent.Recording) (agent.Outcome, error) {
	end, ok := d.record.ends[job.Run]
	if !ok || job.Program == nil {
		return agent.Outcome{}, d.reportDivergence(
			Divergence{Run: job.Run, What: "the record has no end of this run of " + rec.Program})
	}
	if end.Head != "" {
		dir, err := d.trees.RecordedFolder()
		if err == nil {
			err = job.Program.Place.TakeRecorded(ctx, dir, end.Head)
		}
		if err != nil {
			return agent.Outcome{}, d.reportDivergence(Divergence{Run: job.Run,
				What: fmt.Sprintf("the recorded commit %s cannot be taken: %v", end.Head.Short(), err)})
		}
	}
	d.noteProgram(job.Run, rec.Program)
	out := agent.Outcome{Heard: end.Heard}
	var final any
	switch {
	case end.Status == company.RunSuccess:
		out.End, final = agent.EndFinal, agenttools.Finish{Summary: end.Summary, Unchanged: end.Unchanged}
	case end.Status == company.RunPartial:
		out.End = agent.EndTurns
		return out, nil
	case end.Escalate:
		out.End, final = agent.EndEscalated, agent.Escalation{Reason: end.Error}
	default:
		return out, recordedFailure(end)
	}
	var err error
	out.Final, err = json.Marshal(final)
	return out, err
}

// noteProgram adds a note to the report.
func (d *Director) noteProgram(run company.RunID, program string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.Notes = append(d.report.Notes, fmt.Sprintf("the work of %s is taken from the record: %s", run, program))
}
