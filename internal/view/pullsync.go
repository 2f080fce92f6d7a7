package view

import "company/internal/company"

// PullSync is what came of asking a forge about one pull request.
type PullSync struct {
	Number   int             `json:"number"`
	Task     company.TaskID  `json:"task"`
	State    company.PRState `json:"state"`
	Items    int             `json:"remarks"` // that ask for work, acted on before or now
	Left     int             `json:"left"`    // that were left alone
	FollowUp company.TaskID  `json:"follow_up,omitempty"`
	// BranchChange is there where the branch is not as it was delivered.
	BranchChange *company.BranchChange `json:"branch_change,omitempty"`
	Error        string                `json:"error,omitempty"`
	Err          error                 `json:"-"`
}
