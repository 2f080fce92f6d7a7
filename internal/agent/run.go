package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"company/internal/adapters"
	"company/internal/budget"
	"company/internal/company"
	"company/internal/marks"
	"company/internal/safetext"
)

// recordTimeout bounds a journal append. It outlives the run's context: what
// has happened is recorded even when the run was just stopped.
const recordTimeout = 15 * time.Second

// Drive holds the conversation until it ends. With a journal that already
// holds one it goes on there.
func (l Loop) Drive(ctx context.Context, j Job) (Outcome, error) {
	if l.Models == nil || j.Journal == nil || len(j.Tools) == 0 {
		return Outcome{}, company.E(company.EInternal, "an agent needs a model, a journal and tools")
	}
	r := &runner{cfg: config{Job: j, Loop: l}.withDefaults()}
	var err error
	if r.tools, err = newToolset(j.Tools); err != nil {
		return Outcome{}, err
	}
	if r.cfg.model, err = l.Models.OpenModel(r.meterModel); err != nil {
		return Outcome{}, err
	}
	adapters.Prepare(ctx, r.cfg.model)
	r.conv = newConversation(r.cfg)
	if err := r.load(ctx); err != nil {
		return r.buildOutcome(), err
	}
	if err := r.conv.loadImages(ctx, r.cfg.Blobs); err != nil {
		return r.buildOutcome(), err
	}
	end, err := r.runSteps(ctx)
	if lost := r.awaitSave(); err == nil {
		err = lost
	}
	if err != nil {
		if lost := r.storeRecords(ctx); lost != nil {
			r.cfg.Logger.DebugContext(ctx, "the last steps were not journaled", "run_id", r.cfg.Run, "err", lost)
		}
	}
	out := r.buildOutcome()
	if err != nil {
		return out, err
	}
	out.End = end
	if r.conv.final != nil {
		out.Final, out.FinalTool = r.conv.final, r.conv.finalTool
	}
	return out, nil
}

type runner struct {
	cfg       config
	tools     *toolset
	conv      *conversation
	resumed   bool
	restarted bool            // the model has no note about it yet
	lost      map[string]bool // of a run of before Exact: calls that may have been done
	cost      *company.Amount // of call costOf, once the meter knows
	costOf    int
	cut       bool // the newest call was cut before its server had sent a byte

	hasher requestHasher // of what the model is asked

	saving    *backgroundSave // nil: none
	recording sync.Mutex      // one record at a time is journaled and folded
	mark      *marks.Mark     // of the newest reply, while the company handles it
}

func (r *runner) buildOutcome() Outcome {
	out := r.conv.buildOutcome()
	out.Resumed = r.resumed
	return out
}

// load rebuilds the conversation from the journal, or begins it.
func (r *runner) load(ctx context.Context) error {
	err := r.cfg.Journal.Read(ctx, func(_ int, kind string, data json.RawMessage) error {
		return r.conv.foldRecord(ctx, r.cfg.Blobs, kind, data)
	})
	if err != nil {
		return fmt.Errorf("read the journal of %s: %w", r.cfg.Run, err)
	}
	if r.conv.begun {
		if err := r.checkAgent(); err != nil {
			return err
		}
		r.resumed, r.restarted = true, true
		r.emitEvent(Event{Kind: Resumed})
		if r.conv.exact {
			return r.redoCalls(ctx)
		}
		r.lost = map[string]bool{}
		for _, p := range r.conv.pending {
			r.lost[p.ID] = true
		}
		return nil
	}
	info := r.cfg.model.Info()
	p := promptRecord{At: r.utcNow(), Exact: true, Driver: loopDriver, Profile: r.cfg.Model, Hash: PromptHash(r.cfg.System, r.cfg.First), Window: info.ContextTokens, MaxOutput: info.MaxOutput, ToolTokens: r.conv.toolCost, Seen: r.cfg.Seen, Images: r.cfg.Images}
	if p.System, err = storePayload(ctx, r.cfg.Blobs, toValidUTF8(r.cfg.System)); err != nil {
		return err
	}
	if p.First, err = storePayload(ctx, r.cfg.Blobs, toValidUTF8(r.cfg.First)); err != nil {
		return err
	}
	if len(r.cfg.Shown) > 0 {
		shown := slices.Clone(r.cfg.Shown)
		for i := range shown { // as the answer of a call is recorded
			shown[i].Text = toValidUTF8(safetext.EscapeControl(shown[i].Text))
		}
		text, err := json.Marshal(shown)
		if err != nil {
			return company.E(company.EInternal, "what the first message shows cannot be recorded").Wrap(err)
		}
		kept, err := storePayload(ctx, r.cfg.Blobs, string(text))
		if err != nil {
			return err
		}
		p.Shown = &kept
	}
	return r.appendRecord(ctx, kindPrompt, p)
}

// loadImages reads the images of the conversation, which its records only name.
func (c *conversation) loadImages(ctx context.Context, blobs Blobs) error {
	for _, m := range c.msgs {
		for i := range m.Images {
			if blobs == nil {
				return company.E(company.EInternal, "the conversation has an image and there is no blob store")
			}
			data, err := blobs.GetBlob(ctx, m.Images[i].Blob)
			if err != nil {
				return fmt.Errorf("read the image %s: %w", m.Images[i].Name, err)
			}
			m.Images[i].Data = data
		}
	}
	return nil
}

// checkAgent refuses to go on with the conversation of another driver, or of another model.
func (r *runner) checkAgent() error {
	was := r.conv
	if was.driver == "" || was.driver == loopDriver && was.profile == r.cfg.Model {
		return nil
	}
	name := func(driver string, m company.BriefModel) string {
		return strings.Join(strings.Fields(fmt.Sprintf("%s with %s (%s %s)", driver, m.Profile, m.Adapter, m.Model)), " ")
	}
	return r.withRunID(company.E(company.EConflict, "another agent began this run").
		Because("its journal names " + name(was.driver, was.profile) + ", and the run is now one of " + name(loopDriver, r.cfg.Model)).
		Fix("the next run of the ticket begins a conversation of its own, on what was pushed"))
}

// maxPreparations is how many notes and clearings may come between two requests. There are
// some four; more are a bug of ours, which would spend a processor and memory without end.
const maxPreparations = 100

func (r *runner) runSteps(ctx context.Context) (End, error) {
	r.enterReply()
	defer func() { r.mark.Pass() }()
	preparations := 0
	for {
		if err := contextCause(ctx); err != nil {
			return "", err
		}
		s := r.conv.next(r.restarted)
		if preparations++; s.do == ask || s.do == run {
			preparations = 0
		}
		if preparations > maxPreparations {
			return "", r.withRunID(company.E(company.EInternal, "the next request is prepared without end").
				Because(fmt.Sprintf("%d notes and clearings came in a row", maxPreparations)))
		}
		var err error
		switch s.do {
		case end:
			return s.end, nil
		case fail:
			return "", OwnFault(r.withRunID(s.err))
		case run:
			err = r.runPendingCalls(ctx)
		case tell:
			r.restarted = r.restarted && s.about != noteRestart
			err = r.appendLater(ctx, kindNote, noteRecord{N: r.conv.requests, At: r.utcNow(), About: s.about, Text: s.text})
			r.emitEvent(Event{Kind: Noted, Text: safetext.EscapeLine(s.text, 300)})
		case mask:
			err = r.appendLater(ctx, kindMask, maskRecord{N: r.conv.requests, At: r.utcNow(), Upto: s.upto})
			r.emitEvent(Event{Kind: Masked, Text: fmt.Sprintf("%d old tool results cleared from the context", s.upto)})
		case condense:
			rec := condenseRecord{N: r.conv.requests, At: r.utcNow(), Upto: s.upto}
			if rec.Digest, err = storePayload(ctx, r.cfg.Blobs, s.text); err == nil {
				err = r.appendLater(ctx, kindDigest, rec)
			}
			r.emitEvent(Event{Kind: Condensed, Text: "old turns left out of the context, with a digest in their place"})
		case ask:
			var told bool
			if told, err = r.tellWord(ctx); err == nil && !told {
				err = r.askModel(ctx)
			}
		}
		if err != nil {
			return "", err
		}
	}
}

// enterReply marks the newest reply: what it asks for is handled, and then the next request made.
func (r *runner) enterReply() {
	r.mark.Pass()
	r.mark = r.cfg.Marks.Enter(marks.Place{Owner: string(r.cfg.Run), Doing: marks.Reply, N: r.conv.requests})
}

// enterCall marks a call of a reply, for as long as it is carried out.
func (r *runner) enterCall(doing string, p pendingCall) *marks.Mark {
	return r.cfg.Marks.Enter(marks.Place{Owner: string(r.cfg.Run), Doing: doing, N: p.reply, Part: p.part})
}

// tellWord gives the model the next message of the president, if there is one that
// it has not read: it is in the journal before the model sees it.
func (r *runner) tellWord(ctx context.Context) (told bool, err error) {
	words := r.cfg.Words()
	if r.conv.heard >= len(words) {
		return false, nil
	}
	text := company.FormatWord(toValidUTF8(words[r.conv.heard]))
	err = r.appendLater(ctx, kindNote, noteRecord{N: r.conv.requests, At: r.utcNow(), About: aboutWord, Text: text, Word: r.conv.heard + 1})
	if err == nil {
		r.emitEvent(Event{Kind: Noted, Text: safetext.EscapeLine(text, 300)})
	}
	return true, err
}

// refusesFinish says why the work is not handed in yet: a message of the president waits
// for the agent. "": none does, or the agent was asked to mind it before.
func (r *runner) refusesFinish() string {
	switch {
	case r.conv.finishRefused:
		return ""
	case len(r.cfg.Words()) > r.conv.heard:
		return "Not finished: the president has a message for you, which follows. It goes before the ticket. Act on it, then finish."
	case r.conv.unanswered:
		return "Not finished: since the president's message you have done nothing. Act on it, then finish; where nothing is to be done, finish again and say in the summary why."
	}
	return ""
}

// meterModel makes every request of a model reserve its cost and leave its
// record before it goes out.
func (r *runner) meterModel(m adapters.Model) adapters.Model {
	return budget.Meter(m, r.cfg.Allowance, r)
}

// OpenCall makes the runner the meter's budget.CallLog.
func (r *runner) OpenCall(ctx context.Context, info adapters.Info, req adapters.Request, worst company.Amount) (int, error) {
	if err := contextCause(ctx); err != nil {
		return 0, err
	}
	rec := callRecord{N: r.conv.requests + 1, At: r.utcNow(), Model: info.Model, Worst: worst, Request: r.hasher.hashRequest(req)}
	if _, open := r.conv.open[r.costOf]; open {
		rec.Before, rec.BeforeN = r.cost, r.costOf
	}
	r.cost = nil
	return rec.N, r.appendRecord(ctx, kindCall, rec)
}

// CloseCall makes no record of its own: what the call cost goes into the next
// one, and if there is none the call counts as its worst case.
func (r *runner) CloseCall(_ context.Context, n int, usage adapters.Usage, actual company.Amount) error {
	r.cost, r.costOf = &actual, n
	r.cut = usage.Estimated
	return nil
}

// askModel gets one reply from the model.
func (r *runner) askModel(ctx context.Context) error {
	if err := r.cfg.Halt(); err != nil {
		return err
	}
	r.emitEvent(Event{Kind: TurnStarted, Turn: r.conv.turns + 1})
	r.cost, r.cut = nil, false
	began := time.Now()
	request := r.conv.buildRequest(r.tools.specs)
	r.mark.Pass()
	defer r.enterReply()
	resp, err := r.cfg.model.Chat(ctx, request, func(e adapters.Event) {
		switch {
		case e.Waiting > 0:
			r.emitEvent(Event{Kind: Waiting, Turn: r.conv.turns + 1, Wait: e.Waiting, Asked: e.Asked, Text: safetext.EscapeLine(e.Reason, 200)})
		case e.Reason != "":
			r.emitEvent(Event{Kind: Switched, Turn: r.conv.turns + 1, Text: safetext.EscapeLine(e.Reason, 200)})
		}
	})
	if err != nil {
		return r.recordFailure(ctx, err)
	}

	m := sanitizeReply(resp.Message)
	rec := replyRecord{N: r.conv.requests, At: r.utcNow(), Finish: resp.Finish, Usage: sanitizeUsage(resp.Usage), Spent: r.lastCallCost(), Model: toValidUTF8(truncateText(resp.Model)), FirstByteMS: resp.FirstByte.Milliseconds()}
	if resp.Textual {
		rec.Textual = toValidUTF8(resp.Served.Model)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return company.E(company.EInternal, "a model's reply cannot be recorded").Wrap(err)
	}
	keep, cancel := detachContext(ctx)
	defer cancel()
	if rec.Message, err = storePayload(keep, r.cfg.Blobs, string(text)); err != nil {
		return err
	}
	if err := r.appendRecord(ctx, kindReply, rec); err != nil {
		return err
	}
	r.emitEvent(Event{Kind: Replied, Turn: r.conv.turns, Text: safetext.EscapeLine(m.Content, 300), Usage: rec.Usage, Duration: time.Since(began)})
	return nil
}

// recordFailure records why there is no reply, and returns what ends the run.
func (r *runner) recordFailure(ctx context.Context, err error) error {
	if stop := contextCause(ctx); stop != nil {
		r.settleCutCall(ctx)
		return stop
	}
	kind := adapters.KindOf(err)
	if _, open := r.conv.newestCall(); open {
		rec := replyRecord{N: r.conv.requests, At: r.utcNow(), Spent: r.lastCallCost(), Error: kind, Detail: safetext.EscapeLine(err.Error(), 1024)}
		if kind == "" {
			rec.Error = "other"
		}
		if err := r.appendRecord(ctx, kindReply, rec); err != nil {
			return err
		}
	}
	switch kind {
	case adapters.TooLong, adapters.MalformedReply:
		return nil // next decides
	case "":
		return err // the allowance, the journal
	}
	return r.withRunID(adapters.Explain(err, r.cfg.model.Info()))
}

// settleCutCall records what a call cost that was cut with its run before it was answered, or
// while its server was waited for. Without the record the call counts as its worst case.
func (r *runner) settleCutCall(ctx context.Context) {
	call, open := r.conv.newestCall()
	cost := r.lastCallCost()
	if !open || cost == call.Worst {
		return
	}
	text := fmt.Sprintf("a request was cut before its server answered: its cost is an estimate, %s", cost)
	if !r.cut {
		text = "the run was cut while the model's server was waited for"
	}
	rec := replyRecord{N: r.conv.requests, At: r.utcNow(), Spent: cost, Error: errorCut, Detail: text}
	if err := r.appendRecord(ctx, kindReply, rec); err != nil {
		r.cfg.Logger.WarnContext(ctx, "cost of a call that was cut not recorded", "run_id", r.cfg.Run, "err", err)
		return
	}
	if r.cut {
		r.emitEvent(Event{Kind: CutOff, Text: text})
	}
}

// errorCut stands in a reply's record for a call that was cut with its run.
const errorCut adapters.Kind = "cut"

// lastCallCost is what the newest call cost.
func (r *runner) lastCallCost() company.Amount {
	if r.cost != nil {
		return *r.cost
	}
	call, _ := r.conv.newestCall()
	return call.Worst
}

// withRunID puts the run's id into an error that was made for this run.
func (r *runner) withRunID(err error) error {
	var e *company.Error
	if errors.As(err, &e) && e.RunID == "" {
		e.RunID = r.cfg.Run
	}
	return err
}

// appendRecord journals one record, with those that wait, and folds it.
func (r *runner) appendRecord(ctx context.Context, kind string, rec any) error {
	return r.keepRecord(ctx, kind, rec, func(ctx context.Context, data json.RawMessage) error {
		_, err := r.cfg.Journal.Append(ctx, kind, data)
		return err
	})
}

// appendLater folds a record that is journaled with the next one. It is for what comes
// between two requests and changes nothing outside of the conversation: a request waits for
// its record, and so the model sees nothing that the journal does not have. A process that
// dies before does these steps again.
func (r *runner) appendLater(ctx context.Context, kind string, rec any) error {
	return r.keepRecord(ctx, kind, rec, func(ctx context.Context, data json.RawMessage) error {
		return r.cfg.Journal.AppendLater(ctx, kind, data)
	})
}

// storeRecords journals the records that wait.
func (r *runner) storeRecords(ctx context.Context) error {
	ctx, cancel := detachContext(ctx)
	defer cancel()
	if err := r.cfg.Journal.Flush(ctx); err != nil {
		return fmt.Errorf("journal %s: %w", r.cfg.Run, NotKeptOf(err))
	}
	return nil
}

func (r *runner) keepRecord(ctx context.Context, kind string, rec any, add func(context.Context, json.RawMessage) error) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return company.E(company.EInternal, "a journal record cannot be written").Wrap(err)
	}
	r.recording.Lock()
	defer r.recording.Unlock()
	ctx, cancel := detachContext(ctx)
	defer cancel()
	if err := add(ctx, data); err != nil {
		return fmt.Errorf("journal %s: %w", r.cfg.Run, NotKeptOf(err))
	}
	return r.conv.foldRecord(ctx, r.cfg.Blobs, kind, data)
}

func detachContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}

func (r *runner) emitEvent(e Event) {
	e.Time = r.utcNow()
	e.Turn, e.Spent = cmp.Or(e.Turn, r.conv.turns), r.conv.spent
	r.cfg.OnEvent(e)
}

func (r *runner) utcNow() time.Time { return r.cfg.Now().UTC().Round(0) }

func contextCause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// sanitizeReply makes a reply one that JSON gives back exactly. Its text and the arguments
// of its calls stay whole: the driver has bounded the reply.
func sanitizeReply(m adapters.Message) adapters.Message {
	out := adapters.Message{Role: adapters.Assistant, Content: toValidUTF8(m.Content), CallBytes: m.CallBytes}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, adapters.ToolCall{
			ID: toValidUTF8(truncateText(call.ID)), Name: toValidUTF8(truncateText(call.Name)), Arguments: toValidUTF8(call.Arguments),
		})
		// A reply of a million calls is not kept: calls over MaxCalls are
		// counted for the reminder, up to here.
		if len(out.ToolCalls) == 8*MaxCalls {
			break
		}
	}
	if len(m.Opaque) <= maxOpaque && json.Valid(m.Opaque) {
		out.Opaque = m.Opaque
	}
	return out
}

func truncateText(s string) string { return s[:min(len(s), 256)] }

func toValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// sanitizeUsage drops counts that no server can mean.
func sanitizeUsage(u adapters.Usage) adapters.Usage {
	u.InputTokens, u.OutputTokens = max(0, u.InputTokens), max(0, u.OutputTokens)
	u.CachedTokens = min(max(0, u.CachedTokens), u.InputTokens)
	u.WrittenTokens = min(max(0, u.WrittenTokens), u.InputTokens-u.CachedTokens)
	return u
}
