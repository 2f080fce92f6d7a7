package view

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/boundedparse/yaml"
	"company/internal/company"
)

// PlanFile is a plan as people edit it.
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
	Does        []int    `yaml:"does,omitempty,flow"`
}

const planFileHead = `# The plan of %s. Change, add, remove and reorder subtasks, then save.
# after: names of subtasks that are merged before this one begins.
# does: the parts of the instruction that it carries out, by number.
# write_set: globs of the files that it creates, changes or deletes.
# effort: small, medium or large. Save without a change to leave the plan as it is.
`

// PlanFile returns the plan of a task as people edit it. Subtasks are named by their ids:
// a number would be another subtask's once one is taken out.
func (v *TaskDetail) PlanFile() PlanFile {
	f := PlanFile{Why: v.Why}
	for _, sub := range v.Plan {
		e := PlanEntry{
			Name: string(sub.ID), Title: sub.Title, Description: sub.Description, Criteria: sub.AcceptanceCriteria,
			WriteSet: sub.WriteSet, Effort: sub.Effort, Context: sub.Context, Does: sub.Does,
		}
		for _, id := range sub.After {
			e.After = append(e.After, string(id))
		}
		if len(sub.After) == 0 { // waves are an older form of after
			for _, other := range v.Plan {
				if other.Wave < sub.Wave {
					e.After = append(e.After, string(other.ID))
				}
			}
		}
		f.Subtasks = append(f.Subtasks, e)
	}
	return f
}

// RenderFor returns the text of the plan file of a task.
func (f PlanFile) RenderFor(id company.TaskID) (string, error) {
	text, err := yaml.Encode(f)
	if err != nil {
		return "", fmt.Errorf("write the plan of %s: %w", id, err)
	}
	return fmt.Sprintf(planFileHead, id) + string(text), nil
}

// ParsePlanFile reads the text of a plan file. The error is EInvalid.
func ParsePlanFile(text string) (PlanFile, error) {
	var f PlanFile
	if err := yaml.Decode([]byte(text), &f, true); err != nil {
		return f, company.E(company.EInvalid, "the plan cannot be read").Because(err.Error()).Fix("mend that line")
	}
	if len(f.Subtasks) == 0 {
		return f, company.E(company.EInvalid, "the plan has no subtasks").Fix("leave one in it; company cancel ends the task")
	}
	return f, nil
}

// Plan returns the plan that the file describes.
func (f PlanFile) Plan() company.Plan {
	p := company.Plan{Why: strings.TrimSpace(f.Why), Waves: make([]company.Wave, 1)}
	for _, e := range f.Subtasks {
		p.Waves[0].Subtasks = append(p.Waves[0].Subtasks, company.PlannedSubtask{
			Name: e.Name, Title: strings.TrimSpace(e.Title), Description: strings.TrimSpace(e.Description), AcceptanceCriteria: e.Criteria,
			WriteSet: e.WriteSet, Effort: e.Effort, After: e.After, Context: e.Context, Does: e.Does,
		})
	}
	return p
}

// Equal reports whether two files have the same plan.
func (f PlanFile) Equal(other PlanFile) bool {
	return f.Why == other.Why && slices.EqualFunc(f.Subtasks, other.Subtasks, func(a, b PlanEntry) bool {
		return a.Name == b.Name && a.Title == b.Title && a.Description == b.Description && a.Effort == b.Effort &&
			slices.Equal(a.Criteria, b.Criteria) && slices.Equal(a.WriteSet, b.WriteSet) && slices.Equal(a.After, b.After) && slices.Equal(a.Context, b.Context) && slices.Equal(a.Does, b.Does)
	})
}
