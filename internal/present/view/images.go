package view

import "company/internal/company"

// TaskImage is the image of a task, current or former.
type TaskImage struct {
	Task   company.TaskID `json:"task"`
	Image  string         `json:"image"`
	Open   bool           `json:"open"`   // the task has not ended
	Needed bool           `json:"needed"` // the task is open, its pull request is open, or one of its runs is held
}

// Images returns the images of all tasks that have one.
func (src Source) Images() []TaskImage {
	out := []TaskImage{}
	for _, of := range src.allTasks() {
		if pastTask := of.past; pastTask != nil {
			if pastTask.Image != "" {
				out = append(out, TaskImage{Task: pastTask.ID, Image: pastTask.Image, Needed: src.State.HasOpenPull(pastTask)})
			}
			continue
		}
		task := of.now
		if task.Prepared == nil || task.Prepared.Image == "" {
			continue
		}
		taskImage := TaskImage{Task: task.ID, Image: task.Prepared.Image, Open: !task.Status.Ended()}
		pr := src.State.LeadOf(task).PR
		taskImage.Needed = taskImage.Open || task.HeldRun() || pr != nil && pr.State == company.PROpen
		out = append(out, taskImage)
	}
	return out
}
