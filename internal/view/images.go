package view

import "company/internal/company"

// TaskImage is the image that a task is worked on with, or was.
type TaskImage struct {
	Task   company.TaskID `json:"task"`
	Image  string         `json:"image"`
	Open   bool           `json:"open"`   // the task has not ended
	Needed bool           `json:"needed"` // or its pull request is open, or a run of it is held
}

// Images are those of all tasks that have one.
func (src Source) Images() []TaskImage {
	out := []TaskImage{}
	for _, of := range src.allTasks() {
		if p := of.past; p != nil {
			if p.Image != "" {
				out = append(out, TaskImage{Task: p.ID, Image: p.Image, Needed: src.State.HasOpenPull(p)})
			}
			continue
		}
		t := of.now
		if t.Prepared == nil || t.Prepared.Image == "" {
			continue
		}
		v := TaskImage{Task: t.ID, Image: t.Prepared.Image, Open: !t.Status.Ended()}
		pr := src.State.LeadOf(t).PR
		v.Needed = v.Open || t.HeldRun() || pr != nil && pr.State == company.PROpen
		out = append(out, v)
	}
	return out
}
