package view

import "company/internal/company"

// PullSync is the result of asking a forge about one pull request.
type PullSync struct {
	Number   int             `json:"number"`
	Task     company.TaskID  `json:"task"`
	State    company.PRState `json:"state"`
	Items    int             `json:"remarks"` // remarks that ask for work, new or handled before
	Left     int             `json:"left"`    // remarks that were ignored
	FollowUp company.TaskID  `json:"follow_up,omitempty"`
	// BranchChange is set if the branch differs from the delivered one.
	BranchChange *company.BranchChange `json:"branch_change,omitempty"`
	Error        string                `json:"error,omitempty"`
	Err          error                 `json:"-"`
}
