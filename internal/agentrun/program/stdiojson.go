package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"company/internal/agent"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// stdioJSON is the contract of S0: one JSON object as input, and a result between two marks in the output.
var stdioJSON = Profile{
	Name: "stdio-json",
	launch: func(s setup) (launch, error) {
		input, err := encodeTicket(s)
		return launch{stdin: input, env: map[string]string{"COMPANY_MODEL_URL": s.base,
			"COMPANY_MODEL": s.model.Model}}, err
	},
	newReader: func() reader { return &blockReader{} },
}

// ticketInput is what a stdio-json program reads: S0's TaskInput and its context, in one document.
type ticketInput struct {
	TaskID      string            `json:"taskId"`
	Goal        string            `json:"goal"`
	Artifacts   map[string]string `json:"artifacts"` // by name, the path of an attached file
	Repo        ticketRepo        `json:"repo"`
	Context     ticketContext     `json:"context"`
	Constraints ticketConstraints `json:"constraints"`
}

type ticketRepo struct {
	WorktreePath  string `json:"worktreePath"`
	BaseBranch    string `json:"baseBranch,omitempty"`
	Branch        string `json:"branch"`
	DefaultBranch string `json:"defaultBranch,omitempty"`
	RepositoryURL string `json:"repositoryUrl,omitempty"`
}

type ticketContext struct {
	RunID           string           `json:"runId"`
	NodeID          string           `json:"nodeId"`
	FlowID          string           `json:"flowId"`
	PreviousResults []previousResult `json:"previousResults,omitempty"`
}

type previousResult struct {
	NodeID  string `json:"nodeId"`
	Success bool   `json:"success"`
	Summary string `json:"summary,omitempty"`
}

type ticketConstraints struct {
	AllowedCommands []string `json:"allowedCommands,omitempty"` // which nothing enforces
	MaxTimeout      int64    `json:"maxTimeout,omitempty"`      // in seconds
}

// encodeTicket returns the input of a stdio-json program.
func encodeTicket(s setup) ([]byte, error) {
	ticket := s.ticket
	input := ticketInput{
		TaskID: string(ticket.Subtask), Goal: s.prompt,
		Artifacts: map[string]string{},
		Repo: ticketRepo{WorktreePath: toolproto.Workspace, BaseBranch: ticket.BaseBranch, Branch: ticket.Branch,
			DefaultBranch: ticket.BaseBranch, RepositoryURL: ticket.Remote},
		Context:     ticketContext{RunID: string(s.run), NodeID: string(ticket.Subtask), FlowID: string(ticket.Task)},
		Constraints: ticketConstraints{AllowedCommands: ticket.Commands, MaxTimeout: int64(ticket.Limit.Seconds())},
	}
	for _, name := range ticket.Attached {
		input.Artifacts[name] = path.Join(toolproto.AttachedFolder, name)
	}
	for _, earlier := range ticket.Earlier {
		input.Context.PreviousResults = append(input.Context.PreviousResults,
			previousResult{NodeID: string(ticket.Subtask), Success: earlier.Success, Summary: earlier.Summary})
	}
	return json.Marshal(input)
}

const (
	maxResult   = 1 << 20 // bytes of a result
	beginResult = "===RESULT==="
	endResult   = "===END==="
)

// blockReader finds the result of a stdio-json program. All of it is a claim.
type blockReader struct {
	lines    [][]byte // of a result, from its mark
	inResult bool
	size     int
	block    []byte // the last whole result
	hasBlock bool
	tooLong  bool // the last whole result is too long to be kept
}

func (r *blockReader) readLine(line []byte) (steps []agent.ProgramStep, isKnown bool) {
	switch text := strings.TrimSpace(string(line[:min(len(line), maxLine)])); {
	case text == beginResult:
		r.inResult = true
		r.lines, r.size = nil, 0
	case text == endResult && r.inResult:
		r.block, r.hasBlock = bytes.Join(r.lines, []byte("\n")), true
		r.inResult, r.tooLong = false, r.size > maxResult
	case r.inResult:
		if r.size += len(line) + 1; r.size <= maxResult {
			r.lines = append(r.lines, bytes.Clone(line))
		}
	}
	return nil, false
}

func (r *blockReader) readSession() string { return "" }

func (r *blockReader) isFinal() bool { return r.hasBlock && !r.inResult }

func (r *blockReader) readVerdict() verdict {
	switch {
	case !r.hasBlock && r.inResult:
		return verdict{saidUnreadable, "the result has no " + endResult}
	case !r.hasBlock:
		return verdict{saidUnreadable, "there is no " + beginResult}
	case r.tooLong:
		return verdict{saidUnreadable, fmt.Sprintf("the result has more than %d bytes", maxResult)}
	}
	var read struct {
		Success *bool              `json:"success"`
		Summary *string            `json:"summary"`
		Outputs map[string]string  `json:"outputs"`
		Metrics map[string]float64 `json:"metrics"`
	}
	if err := json.Unmarshal(r.block, &read); err != nil {
		return verdict{saidUnreadable, "the result cannot be read: " + safetext.EscapeLine(err.Error(), 200)}
	}
	switch {
	case read.Success == nil:
		return verdict{saidUnreadable, "the result lacks success, which is true or false"}
	case read.Summary == nil || strings.TrimSpace(*read.Summary) == "":
		return verdict{saidUnreadable, "the result lacks a summary"}
	case !*read.Success:
		return verdict{saidBlocked, *read.Summary}
	}
	return verdict{saidDone, *read.Summary}
}
