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
	"company/internal/lib/lazyregexp"
)

// Driver returns an agent driver that answers runs from their records instead of a model.
func (d *Director) Driver() agent.Driver { return recordedDriver{d} }

type recordedDriver struct{ director *Director }

func (r recordedDriver) Drive(ctx context.Context, job agent.Job) (agent.Outcome, error) {
	rec, ok := r.director.record.Runs[job.Run]
	if !ok || rec.Began.IsZero() {
		if end, ok := r.director.record.ends[job.Run]; ok {
			return agent.Outcome{}, recordedFailure(end)
		}
		return agent.Outcome{}, r.director.reportDivergence(
			Divergence{Run: job.Run, What: "the record has no conversation of this run"})
	}
	if rec.Program != "" {
		return r.director.takeProgramRun(ctx, job, rec)
	}
	p := &player{director: r.director, run: job.Run, rec: rec, now: rec.Began}
	job.Now = p.recordedTime
	job.Words = p.heardWords
	job.Clearing = p.recordedClearing
	out, err := agent.Loop{Models: p}.Drive(ctx, job)
	if err == nil {
		err = p.checkEnd()
	}
	return out, err
}

// player plays the model's part in one run.
type player struct {
	director *Director
	run      company.RunID
	rec      agent.Recording

	mu     sync.Mutex
	next   int // index of the next exchange
	now    time.Time
	warned map[int]bool // messages whose difference was reported
	framed bool         // a difference in tools or settings was reported
}

var (
	_ adapters.Model    = (*player)(nil)
	_ agent.ModelOpener = (*player)(nil)
)

// OpenModel returns the metered player.
func (p *player) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(p), nil
}

// Info returns the recorded properties of the model.
func (p *player) Info() adapters.Info {
	return adapters.Info{Adapter: "replay", Model: cmp.Or(p.rec.Model, "replay"), ContextTokens: p.rec.Window,
		MaxOutput: max(1, p.rec.MaxOutput)}
}

// recordedTime returns the time of the latest recorded answer. Commits get their dates from it.
func (p *player) recordedTime() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// heardWords returns the president's messages that the agent had read at this point of the record.
func (p *player) heardWords() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.director.record.told[p.run]
	if p.next >= len(p.rec.Exchanges) {
		return nil
	}
	return told[:min(len(told), p.rec.Exchanges[p.next].Heard)]
}

// recordedClearing returns the clearing of the context that was recorded at this point. The replay cannot compute it:
// results may differ in size, and the digest of old turns contains results. After the last request, measure is true
// and the run measures its context itself, because it may end by filling it.
func (p *player) recordedClearing(done int) (c *agent.Clearing, measure bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < len(p.rec.Clearings) && p.rec.Clearings[done].Exchange <= p.next {
		return &p.rec.Clearings[done], false
	}
	return nil, p.next >= len(p.rec.Exchanges)
}

// Chat returns the recorded answer to a request with the recorded messages.
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
		return adapters.Response{}, p.director.reportDivergence(
			Divergence{Run: p.run, Request: p.next + 1, What: "the run asks once more than its record does"})
	}
	exchange := p.rec.Exchanges[p.next]
	if err := p.compareRequest(exchange, req); err != nil {
		return adapters.Response{}, err
	}
	p.next++
	p.now = exchange.At
	p.director.noteRequest(p.run)
	if exchange.Failure != "" {
		return adapters.Response{}, recordedError(exchange)
	}
	answer := exchange.Answer
	answer.Textual, answer.Served = exchange.Textual != "", adapters.Info{Model: exchange.Textual}
	return answer, nil
}

// errorPrefix matches the start of a recorded error: its kind and the server's status.
var errorPrefix = lazyregexp.New(`^model: [a-z_]+(?: \(HTTP (\d{3})\))?: `)

// recordedError returns the error that was recorded in place of an answer.
func recordedError(exchange agent.Exchange) error {
	fault := &adapters.Error{Kind: exchange.Failure, Message: exchange.Detail}
	if m := errorPrefix.FindStringSubmatch(exchange.Detail); m != nil {
		fault.Message = exchange.Detail[len(m[0]):]
		fault.Status, _ = strconv.Atoi(m[1])
	}
	return fault
}

// compareRequest compares a request with the recorded one. The caller holds mu.
func (p *player) compareRequest(exchange agent.Exchange, req adapters.Request) error {
	if exchange.Request != "" && exchange.Request == agent.RequestHash(req) {
		return nil
	}
	first, differ := agent.CompareMessages(exchange.Messages, req.Messages, p.director.otherPrompts)
	for _, index := range differ {
		if p.warned == nil {
			p.warned = map[int]bool{}
		}
		if !p.warned[index] {
			p.warned[index] = true
			was, is := showDifference(agent.SteadyText(exchange.Messages[index].Content),
				agent.SteadyText(req.Messages[index].Content))
			what := "the result of " + req.Messages[index].ToolName + " is another"
			switch {
			case req.Messages[index].Role == adapters.ToolRole:
			case agent.DifferInGateOutput(exchange.Messages[index].Content, req.Messages[index].Content):
				what = "the gates printed something else"
			default:
				what = OtherPrompt
			}
			p.director.addWarning(
				Warning{Run: p.run, Request: exchange.N, Message: index + 1, What: what, Recorded: was, Replayed: is})
		}
	}
	if first >= 0 {
		divergence := Divergence{Run: p.run, Request: exchange.N, Message: first + 1, What: "the request has another message"}
		divergence.Recorded, divergence.Replayed = showDifference(
			agent.SteadyText(showMessage(exchange.Messages, first)), agent.SteadyText(showMessage(req.Messages, first)))
		return p.director.reportDivergence(divergence)
	}
	req.Messages = exchange.Messages
	if exchange.Request != "" && !p.rec.Interrupted && !p.framed && agent.RequestHash(req) != exchange.Request {
		p.framed = true
		p.director.addWarning(Warning{Run: p.run, Request: exchange.N, What: OtherSettings})
	}
	return nil
}

// checkEnd returns an error if a run ends before its record.
func (p *player) checkEnd() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == len(p.rec.Exchanges) {
		return nil
	}
	exchange := p.rec.Exchanges[p.next]
	return p.director.reportDivergence(
		Divergence{Run: p.run, Request: exchange.N,
			What: fmt.Sprintf("the run has ended, and its record has %d more requests", len(p.rec.Exchanges)-p.next)})
}

// recordedFailure returns the error that a run ended with.
func recordedFailure(end company.RunEnded) error {
	fault := company.E(end.Code, end.Error)
	fault.Hint = end.Hint
	if end.Code == "" {
		return errors.New(end.Error)
	}
	if end.Human {
		return fault.NeedsPerson()
	}
	return fault
}

// showMessage formats a message for comparison with another one.
func showMessage(messages []adapters.Message, index int) string {
	if index >= len(messages) {
		return "(no message)"
	}
	message := messages[index]
	text := message.Role + ": " + message.Content
	for _, c := range message.ToolCalls {
		text += "\n" + c.Name + " " + c.Arguments
	}
	return text
}
