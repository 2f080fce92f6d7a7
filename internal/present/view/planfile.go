package view

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/boundedparse/yaml"
)

// PlanFile is a plan in the form that people edit.
type PlanFile struct {
	Why      string      `yaml:"why,omitempty"`
	Subtasks []PlanEntry `yaml:"subtasks"`
}

// PlanEntry is one subtask of a PlanFile.
type PlanEntry struct {
	Name        string   `yaml:"name,omitempty"`
	Title       string   `yaml:"title"`
	Description string   `yaml:"description"`
	Criteria    []string `yaml:"acceptance_criteria"`
	WriteSet    []string `yaml:"write_set"`
	Effort      string   `yaml:"effort"`
	After       []string `yaml:"after,omitempty"`
	Context     []string `yaml:"context,omitempty"`
}

const planFileHead = `# The plan of %s. Change, add, remove and reorder subtasks, then save.
# after: names of subtasks that are merged before this one begins.
# write_set: globs of the files that it creates, changes or deletes.
# effort: small, medium or large. Save without a change to leave the plan as it is.
`

// PlanFile returns the plan of a task for editing. Subtasks are named by their ids, because a number would refer to
// another subtask once one is removed.
func (v *TaskDetail) PlanFile() PlanFile {
	planFile := PlanFile{Why: v.Why}
	for _, sub := range v.Plan {
		planEntry := PlanEntry{
			Name: string(sub.ID), Title: sub.Title, Description: sub.Description, Criteria: sub.AcceptanceCriteria,
			WriteSet: sub.WriteSet, Effort: sub.Effort, Context: sub.Context,
		}
		for _, id := range sub.After {
			planEntry.After = append(planEntry.After, string(id))
		}
		if len(sub.After) == 0 { // waves are an older form of after
			for _, other := range v.Plan {
				if other.Wave < sub.Wave {
					planEntry.After = append(planEntry.After, string(other.ID))
				}
			}
		}
		planFile.Subtasks = append(planFile.Subtasks, planEntry)
	}
	return planFile
}

// RenderFor returns the text of a task's plan file.
func (f PlanFile) RenderFor(id company.TaskID) (string, error) {
	text, err := yaml.Encode(f)
	if err != nil {
		return "", fmt.Errorf("write the plan of %s: %w", id, err)
	}
	return fmt.Sprintf(planFileHead, id) + string(text), nil
}

// ParsePlanFile parses a plan file. The error is EInvalid.
func ParsePlanFile(text string) (PlanFile, error) {
	var planFile PlanFile
	if err := yaml.Decode([]byte(text), &planFile, true); err != nil {
		return planFile, company.E(company.EInvalid, "the plan cannot be read").Because(err.Error()).Fix("correct that line")
	}
	if len(planFile.Subtasks) == 0 {
		return planFile, company.E(company.EInvalid, "the plan has no subtasks").
			Fix("keep at least one; company cancel ends the task")
	}
	return planFile, nil
}

// Plan returns the plan that the file describes.
func (f PlanFile) Plan() company.Plan {
	plan := company.Plan{Why: strings.TrimSpace(f.Why), Waves: make([]company.Wave, 1)}
	for _, planEntry := range f.Subtasks {
		plan.Waves[0].Subtasks = append(plan.Waves[0].Subtasks, company.PlannedSubtask{
			Name: planEntry.Name, Title: strings.TrimSpace(planEntry.Title),
			Description:        strings.TrimSpace(planEntry.Description),
			AcceptanceCriteria: planEntry.Criteria,
			WriteSet:           planEntry.WriteSet, Effort: planEntry.Effort, After: planEntry.After, Context: planEntry.Context,
		})
	}
	return plan
}

// Equal reports whether two files describe the same plan.
func (f PlanFile) Equal(other PlanFile) bool {
	return f.Why == other.Why && slices.EqualFunc(f.Subtasks, other.Subtasks, func(planEntry, b PlanEntry) bool {
		return planEntry.Name == b.Name && planEntry.Title == b.Title && planEntry.Description == b.Description &&
			planEntry.Effort == b.Effort &&
			slices.Equal(planEntry.Criteria, b.Criteria) && slices.Equal(planEntry.WriteSet, b.WriteSet) &&
			slices.Equal(planEntry.After, b.After) &&
			slices.Equal(planEntry.Context, b.Context)
	})
}
