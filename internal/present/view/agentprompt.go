package view

import (
	"context"

	"company/internal/company"
)

// Prompts renders the prompts of agents.
type Prompts interface {
	PreviewPrompt(ctx context.Context, a company.Assignment) (system, first string, err error)
}

// Prompt is what an agent would be sent at the start of a run.
type Prompt struct {
	First         string        `json:"first_message"`
	Run           company.RunID `json:"run"`
	SchemaVersion int           `json:"schema_version"`
	System        string        `json:"system_prompt"`
}

// Prompt returns what an agent of a role would be sent now for a task or a subtask.
func (src Source) Prompt(ctx context.Context, role company.Role, id string) (Prompt, error) {
	target, err := FindTarget(src.State, id)
	if err != nil {
		return Prompt{}, err
	}
	if target.Run != nil || target.Approval != nil {
		return Prompt{}, company.E(company.EUsage, id+" is not a task or a subtask").
			Fix("name a task or a subtask: company prompt worker t1-01")
	}
	assignment, err := src.State.PreviewRun(target.Task, target.Subtask, role)
	if err != nil {
		return Prompt{}, err
	}
	prompt := Prompt{SchemaVersion: 1, Run: assignment.Claimed.ID}
	prompt.System, prompt.First, err = src.Prompts.PreviewPrompt(ctx, assignment)
	return prompt, err
}
