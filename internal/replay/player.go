package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/lazyregexp"
)

// Driver has a run converse with its record in place of a model.
func (d *Director) Driver() agent.Driver { return recordedDriver{d} }

type recordedDriver struct{ director *Director }

func (r recordedDriver) Drive(ctx context.Context, j agent.Job) (agent.Outcome, error) {
	rec, ok := r.director.record.Runs[j.Run]
	if !ok || rec.Began.IsZero() {
		if end, ok := r.director.record.ends[j.Run]; ok {
			return agent.Outcome{}, recordedFailure(end)
		}
		return agent.Outcome{}, r.director.reportDivergence(Divergence{Run: j.Run, What: "the record has no conversation of this run"})
	}
	p := &player{director: r.director, run: j.Run, rec: rec, now: rec.Began}
	j.Now, j.Words, j.Clearing = p.recordedTime, p.heardWords, p.recordedClearing
	out, err := agent.Loop{Models: p}.Drive(ctx, j)
	if err == nil {
		err = p.checkEnd()
	}
	return out, err
}

// player is the model of one run.
type player struct {
	director *Director
	run      company.RunID
	rec      agent.Recording

	mu     sync.Mutex
	next   int // of the exchanges
	now    time.Time
	warned map[int]bool // messages whose difference is reported
	framed bool         // another frame is reported
}

var (
	_ adapters.Model    = (*player)(nil)
	_ agent.ModelOpener = (*player)(nil)
)

// OpenModel gives the player itself, metered.
func (p *player) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(p), nil
}

// Info is what the record has of the model.
func (p *player) Info() adapters.Info {
	return adapters.Info{Adapter: "replay", Model: cmp.Or(p.rec.Model, "replay"), ContextTokens: p.rec.Window, MaxOutput: max(1, p.rec.MaxOutput)}
}

// recordedTime is that of the newest answer in the record: commits take their dates from it.
func (p *player) recordedTime() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// heardWords are the president's messages that the agent had read at this point of the record.
func (p *player) heardWords() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.director.record.told[p.run]
	if p.next >= len(p.rec.Exchanges) {
		return nil
	}
	return told[:min(len(told), p.rec.Exchanges[p.next].Heard)]
}

// recordedClearing is what left the context at this point of the record. Results may have
// another size than theirs, and the digest of old turns tells of results. Behind the last
// request the run measures for itself: a full context may be its end.
func (p *player) recordedClearing(done int) (c *agent.Clearing, measure bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < len(p.rec.Clearings) && p.rec.Clearings[done].Exchange <= p.next {
		return &p.rec.Clearings[done], false
	}
	return nil, p.next >= len(p.rec.Exchanges)
}

// Chat gives the recorded answer to a request whose messages are the recorded ones.
func (p *player) Chat(ctx context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return adapters.Response{}, context.Cause(ctx)
	}
	if p.next == len(p.rec.Exchanges) {
		if end, ok := p.director.record.ends[p.run]; ok && end.Status == company.RunError {
			return adapters.Response{}, recordedFailure(end)
		}
		return adapters.Response{}, p.director.reportDivergence(Divergence{Run: p.run, Request: p.next + 1, What: "the run asks once more than its record does"})
	}
	x := p.rec.Exchanges[p.next]
	if err := p.compareRequest(x, req); err != nil {
		return adapters.Response{}, err
	}
	p.next++
	p.now = x.At
	p.director.noteRequest(p.run)
	if x.Failure != "" {
		return adapters.Response{}, recordedError(x)
	}
	answer := x.Answer
	answer.Textual, answer.Served = x.Textual != "", adapters.Info{Model: x.Textual}
	return answer, nil
}

// errorPrefix begins the text of a recorded error: its kind, and the status of the server.
var errorPrefix = lazyregexp.New(`^model: [a-z_]+(?: \(HTTP (\d{3})\))?: `)

// recordedError is the error that came in place of an answer.
func recordedError(x agent.Exchange) error {
	e := &adapters.Error{Kind: x.Failure, Message: x.Detail}
	if m := errorPrefix.FindStringSubmatch(x.Detail); m != nil {
		e.Message = x.Detail[len(m[0]):]
		e.Status, _ = strconv.Atoi(m[1])
	}
	return e
}

// compareRequest holds a request against the recorded one. The caller holds mu.
func (p *player) compareRequest(x agent.Exchange, req adapters.Request) error {
	if x.Request != "" && x.Request == agent.RequestHash(req) {
		return nil
	}
	first, differ := agent.CompareMessages(x.Messages, req.Messages, p.director.otherPrompts)
	for _, at := range differ {
		if p.warned == nil {
			p.warned = map[int]bool{}
		}
		if !p.warned[at] {
			p.warned[at] = true
			was, is := showDifference(agent.SteadyText(x.Messages[at].Content), agent.SteadyText(req.Messages[at].Content))
			what := "the result of " + req.Messages[at].ToolName + " is another"
			switch {
			case req.Messages[at].Role == adapters.ToolRole:
			case agent.DifferInGateOutput(x.Messages[at].Content, req.Messages[at].Content):
				what = "the gates printed something else"
			default:
				what = OtherPrompt
			}
			p.director.addWarning(Warning{Run: p.run, Request: x.N, Message: at + 1, What: what, Recorded: was, Replayed: is})
		}
	}
	if first >= 0 {
		d := Divergence{Run: p.run, Request: x.N, Message: first + 1, What: "the request has another message"}
		d.Recorded, d.Replayed = showDifference(agent.SteadyText(showMessage(x.Messages, first)), agent.SteadyText(showMessage(req.Messages, first)))
		return p.director.reportDivergence(d)
	}
	req.Messages = x.Messages
	if x.Request != "" && !p.rec.Interrupted && !p.framed && agent.RequestHash(req) != x.Request {
		p.framed = true
		p.director.addWarning(Warning{Run: p.run, Request: x.N, What: OtherSettings})
	}
	return nil
}

// checkEnd refuses the end of a run whose record goes on.
func (p *player) checkEnd() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == len(p.rec.Exchanges) {
		return nil
	}
	x := p.rec.Exchanges[p.next]
	return p.director.reportDivergence(Divergence{Run: p.run, Request: x.N, What: fmt.Sprintf("the run has ended, and its record has %d more requests", len(p.rec.Exchanges)-p.next)})
}

// recordedFailure is the error that a run ended with.
func recordedFailure(end company.RunEnded) error {
	e := company.E(end.Code, end.Error)
	e.Hint = end.Hint
	if end.Code == "" {
		return errors.New(end.Error)
	}
	if end.Human {
		return e.NeedsPerson()
	}
	return e
}

// showMessage is a message as it is shown beside another one.
func showMessage(all []adapters.Message, at int) string {
	if at >= len(all) {
		return "(no message)"
	}
	m := all[at]
	text := m.Role + ": " + m.Content
	for _, c := range m.ToolCalls {
		text += "\n" + c.Name + " " + c.Arguments
	}
	return text
}
