package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Journals reads the requests in the journals of runs.
type Journals interface {
	// ReadRequests lists the requests of a run in order. Only the given number of most expensive requests have Input. The
	// error is ENotFound if the journal was removed.
	ReadRequests(ctx context.Context, run company.RunID, dearest int) ([]Request, error)
}

// CostLine sums up the cost of a group of requests.
type CostLine struct {
	Of       string `json:"of"`
	Runs     int    `json:"runs"`
	Requests int    `json:"requests"`
	// InputTokens, CachedTokens and OutputTokens are counted by the model's server. Cached tokens are part of the input.
	InputTokens  int64 `json:"input_tokens"`
	CachedTokens int64 `json:"cached_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	CostMicroUSD int64 `json:"cost_micro_usd"` // 0 if no price is known
	Tokens       int64 `json:"tokens"`         // booked tokens: input and output
}

// Request is one request to a model.
type Request struct {
	Run          company.RunID     `json:"run"`
	N            int               `json:"n"` // number in its run, from 1
	Role         company.Role      `json:"role"`
	Ticket       company.SubtaskID `json:"ticket,omitempty"`
	Asked        time.Time         `json:"asked"`
	Answered     *time.Time        `json:"answered"` // null if no answer is recorded
	Model        string            `json:"model,omitempty"`
	InputTokens  int64             `json:"input_tokens"`
	CachedTokens int64             `json:"cached_tokens"`
	OutputTokens int64             `json:"output_tokens"`
	CostMicroUSD int64             `json:"cost_micro_usd"`
	Tokens       int64             `json:"tokens"`          // booked tokens
	Error        string            `json:"error,omitempty"` // error instead of an answer
	Calls        []RequestCall     `json:"calls,omitempty"` // calls of tools in the answer
	// Input lists the parts of the request, largest first. Only the most expensive requests have it.
	Input []RequestPart `json:"input,omitempty"`
}

// RequestCall is a call of a tool.
type RequestCall struct {
	Tool string `json:"tool"`
	What string `json:"what,omitempty"` // the most telling argument, such as a path
}

// RequestPart is a part of the input of a request.
type RequestPart struct {
	Kind string `json:"kind"` // instructions, tools, brief, shown, result, call, reply, note, digest, cleared, rest
	Tool string `json:"tool,omitempty"`
	What string `json:"what,omitempty"` // the main argument of the call
	N    int    `json:"n"`              // messages or calls in this part
	// Tokens are estimated by length, and scaled so that the parts add up to the input.
	Tokens int64 `json:"tokens"`
}

// CostDifference is the difference between the booked cost of a run and the sum of its requests.
type CostDifference struct {
	Run          company.RunID `json:"run"`
	CostMicroUSD int64         `json:"cost_micro_usd"` // negative if the requests cost more than was booked
	Tokens       int64         `json:"tokens"`
	Why          string        `json:"why,omitempty"` // how the run ended
}

// TaskCosts is the cost of a task, a ticket or a run. The lines of ByRole add up to Total, and so do those of
// ByTicket, and the requests together with the differences.
type TaskCosts struct {
	SchemaVersion int             `json:"schema_version"`
	Of            string          `json:"of"` // the id
	Total         CostLine        `json:"total"`
	ByRole        []CostLine      `json:"by_role"`
	ByTicket      []CostLine      `json:"by_ticket"`
	UnderWay      []company.RunID `json:"under_way"` // runs that have not ended
	// Unanswered are requests without a recorded answer. They count with their highest possible cost.
	Unanswered  CostLine         `json:"unanswered"`
	Differences []CostDifference `json:"differences"`
	// Requests are the newest requests, in order, if requested. LeftOut sums up older ones beyond the limit.
	Requests []Request `json:"requests,omitempty"`
	LeftOut  *CostLine `json:"left_out,omitempty"`
	Dearest  []Request `json:"dearest,omitempty"` // if requested
}

// Limits of the lists in TaskCosts.
const (
	MaxRequests    = 2000
	DearestCounted = 10
)

// CostDetail selects the lists of TaskCosts.
type CostDetail struct{ Requests, Dearest bool }

// Names of the lines of ByTicket that are not tickets.
const (
	planLine   = "plan"
	reviewLine = "review of the whole"
)

// ticketLine returns the name of the line of ByTicket that includes a run.
func ticketLine(run *company.Run) string {
	switch ticket := cmp.Or(run.Subtask, run.About); {
	case ticket != "":
		return string(ticket)
	case run.Role == company.Reviewer:
		return reviewLine
	}
	return planLine
}

// holdsRun reports whether a run of the target's task belongs to the target.
func (t Target) holdsRun(run *company.Run) bool {
	switch {
	case t.Run != nil:
		return run == t.Run
	case t.Subtask != nil:
		return ticketLine(run) == string(t.Subtask.ID)
	}
	return true
}

// TaskCosts sums up the cost of an id from the journals of its runs.
func (src Source) TaskCosts(ctx context.Context, id string, detail CostDetail) (TaskCosts, error) {
	taskCosts := TaskCosts{SchemaVersion: 1, Of: id, ByRole: []CostLine{}, ByTicket: []CostLine{},
		UnderWay:    []company.RunID{},
		Differences: []CostDifference{}}
	src, err := src.WithTarget(id)
	if err != nil {
		return taskCosts, err
	}
	target, err := FindTarget(src.State, id)
	if err != nil {
		return taskCosts, err
	}
	if target.Approval != nil {
		return taskCosts, company.E(company.EUsage, id+" is a question").Because("only tasks, tickets and runs have costs").
			Fix("company costs " + string(target.Approval.Task))
	}
	if src.Journals == nil {
		return taskCosts, company.E(company.ENotFound, "no journals here").Fix("company costs")
	}
	sums := costSums{view: &taskCosts, roles: map[string]*CostLine{}, tickets: map[string]*CostLine{}, detail: detail}
	taskCosts.Total.Of = "total"
	for _, run := range target.Task.Runs {
		if run.Fence == 0 || !target.holdsRun(run) {
			continue
		}
		requests, err := src.Journals.ReadRequests(ctx, run.ID, sums.countDearest())
		if company.CodeOf(err) == company.ENotFound && run.Ended && target.Run == nil {
			requests, err = nil, nil // the ledger has the cost of the run, which becomes a difference
		}
		if err != nil {
			return taskCosts, fmt.Errorf("costs of %s: %w", id, err)
		}
		sums.addRun(run, requests)
	}
	sums.finishView()
	return taskCosts, nil
}

// costSums collects the lines of TaskCosts.
type costSums struct {
	view           *TaskCosts
	roles, tickets map[string]*CostLine
	requests       []Request
	detail         CostDetail
}

func (s *costSums) countDearest() int {
	if s.detail.Dearest {
		return DearestCounted
	}
	return 0
}

func (s *costSums) addRun(run *company.Run, requests []Request) {
	role, ticket := findLine(s.roles, string(run.Role)), findLine(s.tickets, ticketLine(run))
	lines := []*CostLine{&s.view.Total, role, ticket}
	for _, line := range lines {
		line.Runs++
	}
	sum := CostLine{}
	for i := range requests {
		one := &requests[i]
		one.Run = run.ID
		one.Role = run.Role
		one.Ticket = cmp.Or(run.Subtask, run.About)
		if one.Answered == nil {
			s.view.Unanswered.addRequest(*one)
		}
		for _, line := range append(lines, &sum) {
			line.addRequest(*one)
		}
	}
	if run.Ended {
		difference := CostDifference{Run: run.ID, CostMicroUSD: run.Spent.MicroUSD - sum.CostMicroUSD,
			Tokens: run.Spent.Tokens - sum.Tokens,
			Why:    safetext.EscapeLine(run.Error, 200)}
		if difference.CostMicroUSD != 0 || difference.Tokens != 0 {
			s.view.Differences = append(s.view.Differences, difference)
		}
		for _, line := range lines {
			line.CostMicroUSD, line.Tokens = line.CostMicroUSD+difference.CostMicroUSD, line.Tokens+difference.Tokens
		}
	} else {
		s.view.UnderWay = append(s.view.UnderWay, run.ID)
	}
	if !s.detail.Requests && !s.detail.Dearest {
		return
	}
	s.requests = append(s.requests, requests...)
}

// findLine returns the line with a name, and adds it if it is missing.
func findLine(lines map[string]*CostLine, of string) *CostLine {
	if lines[of] == nil {
		lines[of] = &CostLine{Of: of}
	}
	return lines[of]
}

func (l *CostLine) addRequest(request Request) {
	l.Requests++
	l.InputTokens += request.InputTokens
	l.CachedTokens +=
		request.CachedTokens
	l.OutputTokens += request.OutputTokens
	l.CostMicroUSD, l.Tokens = l.CostMicroUSD+request.CostMicroUSD, l.Tokens+request.Tokens
}

// ticketRank orders the lines of ByTicket: plan, tickets, review of the whole.
func (l CostLine) ticketRank() int {
	switch l.Of {
	case planLine:
		return 0
	case reviewLine:
		return 2
	}
	return 1
}

func (s *costSums) finishView() {
	taskCosts := s.view
	taskCosts.Unanswered.Of = "unanswered"
	for _, role := range company.Roles() {
		if line := s.roles[string(role)]; line != nil {
			taskCosts.ByRole = append(taskCosts.ByRole, *line)
		}
	}
	for _, line := range s.tickets {
		taskCosts.ByTicket = append(taskCosts.ByTicket, *line)
	}
	slices.SortFunc(taskCosts.ByTicket, func(a, b CostLine) int {
		return cmp.Or(cmp.Compare(a.ticketRank(), b.ticketRank()), cmp.Compare(len(a.Of), len(b.Of)), cmp.Compare(a.Of, b.Of))
	})
	slices.Sort(taskCosts.UnderWay)
	slices.SortFunc(taskCosts.Differences, func(a, b CostDifference) int { return cmp.Compare(a.Run, b.Run) })
	slices.SortFunc(s.requests, func(a, b Request) int {
		return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.Run, b.Run), cmp.Compare(a.N, b.N))
	})
	if s.detail.Dearest {
		taskCosts.Dearest = slices.Clone(s.requests)
		slices.SortStableFunc(taskCosts.Dearest, func(a, b Request) int {
			return cmp.Or(cmp.Compare(b.CostMicroUSD, a.CostMicroUSD), cmp.Compare(b.Tokens, a.Tokens))
		})
		taskCosts.Dearest = taskCosts.Dearest[:min(DearestCounted, len(taskCosts.Dearest))]
	}
	if !s.detail.Requests {
		return
	}
	if over := len(s.requests) - MaxRequests; over > 0 {
		taskCosts.LeftOut = &CostLine{Of: "left out"}
		for _, one := range s.requests[:over] {
			taskCosts.LeftOut.addRequest(one)
		}
		s.requests = s.requests[over:]
	}
	taskCosts.Requests = s.requests
	for i := range taskCosts.Requests {
		taskCosts.Requests[i].Input = nil
	}
}
