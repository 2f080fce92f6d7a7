package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Journals has what the journals of runs tell of their requests.
type Journals interface {
	// ReadRequests lists the requests of a run in order. The dearest of them, so many, have
	// Input. A journal that was removed is ENotFound.
	ReadRequests(ctx context.Context, run company.RunID, dearest int) ([]Request, error)
}

// CostLine is what requests cost that have something in common.
type CostLine struct {
	Of       string `json:"of"`
	Runs     int    `json:"runs"`
	Requests int    `json:"requests"`
	// InputTokens, CachedTokens and OutputTokens are as the model's server counted them. Cached
	// ones are part of the input.
	InputTokens  int64 `json:"input_tokens"`
	CachedTokens int64 `json:"cached_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	CostMicroUSD int64 `json:"cost_micro_usd"` // 0 where no price is known
	Tokens       int64 `json:"tokens"`         // that were booked: input and output
}

// Request is one request to a model.
type Request struct {
	Run          company.RunID     `json:"run"`
	N            int               `json:"n"` // in its run, from 1
	Role         company.Role      `json:"role"`
	Ticket       company.SubtaskID `json:"ticket,omitempty"`
	Asked        time.Time         `json:"asked"`
	Answered     *time.Time        `json:"answered"` // null: no answer is on record
	Model        string            `json:"model,omitempty"`
	InputTokens  int64             `json:"input_tokens"`
	CachedTokens int64             `json:"cached_tokens"`
	OutputTokens int64             `json:"output_tokens"`
	CostMicroUSD int64             `json:"cost_micro_usd"`
	Tokens       int64             `json:"tokens"`          // that were booked
	Error        string            `json:"error,omitempty"` // that came in place of an answer
	Calls        []RequestCall     `json:"calls,omitempty"` // of tools, that the answer asked for
	// Input lists the parts of the request, the largest first. Only the dearest requests have it.
	Input []RequestPart `json:"input,omitempty"`
}

// RequestCall is a call of a tool.
type RequestCall struct {
	Tool string `json:"tool"`
	What string `json:"what,omitempty"` // the argument that says most, such as a path
}

// RequestPart is a part of the input of a request.
type RequestPart struct {
	Kind string `json:"kind"` // instructions, tools, brief, shown, result, call, reply, note, digest, cleared, rest
	Tool string `json:"tool,omitempty"`
	What string `json:"what,omitempty"` // the main argument of the call
	N    int    `json:"n"`              // messages or calls in this part
	// Tokens are estimated by length, and scaled so that all parts make up the input.
	Tokens int64 `json:"tokens"`
}

// CostDifference is what the books of a run have beside its requests.
type CostDifference struct {
	Run          company.RunID `json:"run"`
	CostMicroUSD int64         `json:"cost_micro_usd"` // below 0: the requests cost more than was booked
	Tokens       int64         `json:"tokens"`
	Why          string        `json:"why,omitempty"` // how the run ended
}

// TaskCosts is what a task, a ticket or a run cost. The lines of ByRole add up to Total, and so
// do those of ByTicket. The requests with the differences do, too.
type TaskCosts struct {
	SchemaVersion int             `json:"schema_version"`
	Of            string          `json:"of"` // the id
	Total         CostLine        `json:"total"`
	ByRole        []CostLine      `json:"by_role"`
	ByTicket      []CostLine      `json:"by_ticket"`
	UnderWay      []company.RunID `json:"under_way"` // runs whose books are not closed
	// Unanswered are requests without an answer on record. They count at their worst case.
	Unanswered  CostLine         `json:"unanswered"`
	Differences []CostDifference `json:"differences"`
	// Requests are the newest ones, in order, where they are asked for. LeftOut sums up the older
	// ones that have no room.
	Requests []Request `json:"requests,omitempty"`
	LeftOut  *CostLine `json:"left_out,omitempty"`
	Dearest  []Request `json:"dearest,omitempty"` // where they are asked for
}

// Bounds of TaskCosts.
const (
	MaxRequests    = 2000
	DearestCounted = 10
)

// CostDetail is what TaskCosts has beside its sums.
type CostDetail struct{ Requests, Dearest bool }

// Names of the lines of ByTicket that are no tickets.
const (
	planLine   = "plan"
	reviewLine = "review of the whole"
)

// ticketLine names the line of ByTicket that a run counts for.
func ticketLine(r *company.Run) string {
	switch ticket := cmp.Or(r.Subtask, r.About); {
	case ticket != "":
		return string(ticket)
	case r.Role == company.Reviewer:
		return reviewLine
	}
	return planLine
}

// holdsRun reports whether a run of the target's task belongs to the target.
func (t Target) holdsRun(r *company.Run) bool {
	switch {
	case t.Run != nil:
		return r == t.Run
	case t.Subtask != nil:
		return ticketLine(r) == string(t.Subtask.ID)
	}
	return true
}

// TaskCosts sums up what an id cost, from the journals of its runs.
func (src Source) TaskCosts(ctx context.Context, id string, detail CostDetail) (TaskCosts, error) {
	v := TaskCosts{SchemaVersion: 1, Of: id, ByRole: []CostLine{}, ByTicket: []CostLine{}, UnderWay: []company.RunID{}, Differences: []CostDifference{}}
	src, err := src.WithTarget(id)
	if err != nil {
		return v, err
	}
	target, err := FindTarget(src.State, id)
	if err != nil {
		return v, err
	}
	if target.Approval != nil {
		return v, company.E(company.EUsage, id+" is a question").Because("tasks, tickets and runs cost").Fix("company costs " + string(target.Approval.Task))
	}
	if src.Journals == nil {
		return v, company.E(company.ENotFound, "there are no journals here").Fix("company costs")
	}
	sums := costSums{view: &v, roles: map[string]*CostLine{}, tickets: map[string]*CostLine{}, detail: detail}
	v.Total.Of = "total"
	for _, r := range target.Task.Runs {
		if r.Fence == 0 || !target.holdsRun(r) {
			continue
		}
		requests, err := src.Journals.ReadRequests(ctx, r.ID, sums.countDearest())
		if company.CodeOf(err) == company.ENotFound && r.Ended && target.Run == nil {
			requests, err = nil, nil // the ledger has what the run cost, which is a difference
		}
		if err != nil {
			return v, fmt.Errorf("costs of %s: %w", id, err)
		}
		sums.addRun(r, requests)
	}
	sums.finishView()
	return v, nil
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

func (s *costSums) addRun(r *company.Run, requests []Request) {
	role, ticket := findLine(s.roles, string(r.Role)), findLine(s.tickets, ticketLine(r))
	lines := []*CostLine{&s.view.Total, role, ticket}
	for _, line := range lines {
		line.Runs++
	}
	sum := CostLine{}
	for i := range requests {
		one := &requests[i]
		one.Run, one.Role, one.Ticket = r.ID, r.Role, cmp.Or(r.Subtask, r.About)
		if one.Answered == nil {
			s.view.Unanswered.addRequest(*one)
		}
		for _, line := range append(lines, &sum) {
			line.addRequest(*one)
		}
	}
	if r.Ended {
		d := CostDifference{Run: r.ID, CostMicroUSD: r.Spent.MicroUSD - sum.CostMicroUSD, Tokens: r.Spent.Tokens - sum.Tokens, Why: safetext.EscapeLine(r.Error, 200)}
		if d.CostMicroUSD != 0 || d.Tokens != 0 {
			s.view.Differences = append(s.view.Differences, d)
		}
		for _, line := range lines {
			line.CostMicroUSD, line.Tokens = line.CostMicroUSD+d.CostMicroUSD, line.Tokens+d.Tokens
		}
	} else {
		s.view.UnderWay = append(s.view.UnderWay, r.ID)
	}
	if !s.detail.Requests && !s.detail.Dearest {
		return
	}
	s.requests = append(s.requests, requests...)
}

// findLine finds the line of a name, or makes it.
func findLine(lines map[string]*CostLine, of string) *CostLine {
	if lines[of] == nil {
		lines[of] = &CostLine{Of: of}
	}
	return lines[of]
}

func (l *CostLine) addRequest(r Request) {
	l.Requests++
	l.InputTokens, l.CachedTokens, l.OutputTokens = l.InputTokens+r.InputTokens, l.CachedTokens+r.CachedTokens, l.OutputTokens+r.OutputTokens
	l.CostMicroUSD, l.Tokens = l.CostMicroUSD+r.CostMicroUSD, l.Tokens+r.Tokens
}

// ticketRank orders the lines of ByTicket as the work goes.
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
	v := s.view
	v.Unanswered.Of = "unanswered"
	for _, role := range company.Roles() {
		if line := s.roles[string(role)]; line != nil {
			v.ByRole = append(v.ByRole, *line)
		}
	}
	for _, line := range s.tickets {
		v.ByTicket = append(v.ByTicket, *line)
	}
	slices.SortFunc(v.ByTicket, func(a, b CostLine) int {
		return cmp.Or(cmp.Compare(a.ticketRank(), b.ticketRank()), cmp.Compare(len(a.Of), len(b.Of)), cmp.Compare(a.Of, b.Of))
	})
	slices.Sort(v.UnderWay)
	slices.SortFunc(v.Differences, func(a, b CostDifference) int { return cmp.Compare(a.Run, b.Run) })
	slices.SortFunc(s.requests, func(a, b Request) int {
		return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.Run, b.Run), cmp.Compare(a.N, b.N))
	})
	if s.detail.Dearest {
		v.Dearest = slices.Clone(s.requests)
		slices.SortStableFunc(v.Dearest, func(a, b Request) int {
			return cmp.Or(cmp.Compare(b.CostMicroUSD, a.CostMicroUSD), cmp.Compare(b.Tokens, a.Tokens))
		})
		v.Dearest = v.Dearest[:min(DearestCounted, len(v.Dearest))]
	}
	if !s.detail.Requests {
		return
	}
	if over := len(s.requests) - MaxRequests; over > 0 {
		v.LeftOut = &CostLine{Of: "left out"}
		for _, one := range s.requests[:over] {
			v.LeftOut.addRequest(one)
		}
		s.requests = s.requests[over:]
	}
	v.Requests = s.requests
	for i := range v.Requests {
		v.Requests[i].Input = nil
	}
}
