package agent

import (
	"context"
	"net/http"
	"time"

	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// Program is what a driver needs that runs another program in the sandbox, instead of a conversation.
type Program struct {
	Place  ProgramPlace
	Ticket ProgramTicket
}

// ProgramPlace is the sandbox of a program.
type ProgramPlace interface {
	// RunProgram runs a program to its end and passes on what it prints. If ctx ends, the program is killed.
	RunProgram(
		ctx context.Context, r toolproto.ProgramRequest, out func(toolproto.ProgramOutput),
	) (toolproto.ProgramExit, error)
	// ReadHome returns the files below folders of the home folder, for ProgramRequest.Home.
	ReadHome(ctx context.Context, folders []string) ([]byte, error)
	// GitCommit commits what is not committed, and pushes the branch.
	GitCommit(ctx context.Context, r toolproto.GitCommitRequest) (toolproto.GitCommitResult, error)
	// ServeModel answers requests from the sandbox at the base URL that it returns, until end is called.
	ServeModel(handler http.Handler) (base string, end func())
	// TakeRecorded makes a commit of the git repository in dir the work of the run, for a replay.
	TakeRecorded(ctx context.Context, dir string, commit company.OID) error
	// ReportRefusal records what the program may not ask for. detail is an attacker's text.
	ReportRefusal(detail string)
}

// ProgramTicket describes the ticket of a program.
type ProgramTicket struct {
	Task       company.TaskID
	Subtask    company.SubtaskID
	Title      string
	Branch     string // that the work is on
	BaseBranch string // that the pull request goes to
	Remote     string // address of the repository, without a login
	Attached   []string
	Commands   []string // the programs that commands may start; empty means all
	Limit      time.Duration
	Earlier    []EarlierRun
}

// EarlierRun is an ended run of the same ticket.
type EarlierRun struct {
	Run     company.RunID
	Success bool
	Summary string
}
