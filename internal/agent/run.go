package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// recordTimeout limits a journal append. An append ignores the cancellation of the run's context, because a step
// is recorded even if the run was just stopped.
const recordTimeout = 15 * time.Second

// Drive runs the conversation until it ends. If the journal holds a conversation already, Drive continues it.
func (l Loop) Drive(ctx context.Context, job Job) (Outcome, error) {
	if l.Models == nil || job.Journal == nil || len(job.Tools) == 0 {
		return Outcome{}, company.E(company.EInternal, "an agent needs a model, a journal and tools")
	}
	r := &runner{cfg: config{Job: job, Loop: l}.withDefaults()}
	var err error
	if r.tools, err = newToolset(job.Tools); err != nil {
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
	restarted bool            // the model has no note about the restart yet
	lost      map[string]bool // calls that may have run, in runs that began before Exact
	cost      *company.Amount // of the call costOf, once it is known
	costOf    int
	cut       bool // the newest call was cut before its server sent a byte

	hasher requestHasher // of the requests to the model

	saving    *backgroundSave // the save under way, nil without one
	recording sync.Mutex      // held while a record is journaled and folded

	tracedMessages int // parts of the transcript that were logged
	tracedCalls    int
}

func (r *runner) buildOutcome() Outcome {
	out := r.conv.buildOutcome()
	out.Resumed = r.resumed
	return out
}

// load rebuilds the conversation from the journal, or starts it.
func (r *runner) load(ctx context.Context) error {
	err := r.cfg.Journal.Read(ctx, func(_ int, kind string, data json.RawMessage) error {
		return r.conv.foldRecord(ctx, r.cfg.Blobs, kind, data)
	})
	if err != nil {
		return fmt.Errorf("read the journal of %s: %w", r.cfg.Run, err)
	}
	r.tracedMessages, r.tracedCalls = len(r.conv.log.Messages), len(r.conv.log.ToolCalls) // by the process before
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
	p := promptRecord{At: r.utcNow(), Exact: true, Driver: loopDriver, Profile: r.cfg.Model,
		Hash: PromptHash(r.cfg.System, r.cfg.First), Window: info.ContextTokens, MaxOutput: info.MaxOutput,
		ToolTokens: r.conv.toolCost, Seen: r.cfg.Seen, Images: r.cfg.Images}
	if p.System, err = storePayload(ctx, r.cfg.Blobs, toValidUTF8(r.cfg.System)); err != nil {
		return err
	}
	if p.First, err = storePayload(ctx, r.cfg.Blobs, toValidUTF8(r.cfg.First)); err != nil {
		return err
	}
	if len(r.cfg.Shown) > 0 {
		shown := slices.Clone(r.cfg.Shown)
		for i := range shown { // escaped like the recorded answer of a call
			shown[i].Text = toValidUTF8(safetext.EscapeControl(shown[i].Text))
		}
		text, err := json.Marshal(shown)
		if err != nil {
			return company.E(company.EInternal, "cannot record what the first message shows").Wrap(err)
		}
		kept, err := storePayload(ctx, r.cfg.Blobs, string(text))
		if err != nil {
			return err
		}
		p.Shown = &kept
	}
	return r.appendRecord(ctx, kindPrompt, p)
}

// loadImages reads the data of the conversation's images, because records hold only their names.
func (c *conversation) loadImages(ctx context.Context, blobs Blobs) error {
	for _, message := range c.msgs {
		for i := range message.Images {
			if blobs == nil {
				return company.E(company.EInternal, "the conversation has an image, but there is no blob store")
			}
			data, err := blobs.GetBlob(ctx, message.Images[i].Blob)
			if err != nil {
				return fmt.Errorf("read the image %s: %w", message.Images[i].Name, err)
			}
			message.Images[i].Data = data
		}
	}
	return nil
}

// checkAgent returns an error if another driver or another model began the conversation.
func (r *runner) checkAgent() error {
	was := r.conv
	if was.driver == "" || was.driver == loopDriver && was.profile == r.cfg.Model {
		return nil
	}
	name := func(driver string, m company.BriefModel) string {
		return strings.Join(strings.Fields(fmt.Sprintf("%s with %s (%s %s)", driver, m.Profile, m.Adapter, m.Model)), " ")
	}
	return r.withRunID(company.E(company.EConflict, "another agent started this run").
		Because("its journal names " + name(was.driver, was.profile) + ", and the run is now one of " +
			name(loopDriver, r.cfg.Model)).
		Fix("the next run of the ticket begins a conversation of its own, on what was pushed"))
}

// maxPreparations limits the notes and clearings between two requests. About four are normal. More mean a bug of
// this program, which would use processor and memory without end.
const maxPreparations = 100

func (r *runner) runSteps(ctx context.Context) (End, error) {
	preparations := 0
	for {
		if err := contextCause(ctx); err != nil {
			return "", err
		}
		step := r.conv.next(r.restarted)
		if preparations++; step.do == ask || step.do == run {
			preparations = 0
		}
		if preparations > maxPreparations {
			return "", r.withRunID(company.E(company.EInternal, "preparing the next request does not end").
				Because(fmt.Sprintf("it added %d notes and clearings in a row", maxPreparations)))
		}
		var err error
		switch step.do {
		case end:
			return step.end, nil
		case fail:
			return "", OwnFault(r.withRunID(step.err))
		case run:
			err = r.runPendingCalls(ctx)
		case tell:
			r.restarted = r.restarted && step.about != noteRestart
			err = r.appendLater(ctx, kindNote,
				noteRecord{N: r.conv.requests, At: r.utcNow(), About: step.about, Text: step.text})
			r.emitEvent(Event{Kind: Noted, Text: safetext.EscapeLine(step.text, 300)})
		case mask:
			err = r.appendLater(ctx, kindMask, maskRecord{N: r.conv.requests, At: r.utcNow(), Upto: step.upto})
			r.emitEvent(Event{Kind: Masked, Text: fmt.Sprintf("%d old tool results cleared from the context", step.upto)})
		case condense:
			rec := condenseRecord{N: r.conv.requests, At: r.utcNow(), Upto: step.upto}
			if rec.Digest, err = storePayload(ctx, r.cfg.Blobs, step.text); err == nil {
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

// tellWord gives the model the president's next unread message, if there is one. The message is journaled before
// the model sees it.
func (r *runner) tellWord(ctx context.Context) (told bool, err error) {
	words := r.cfg.Words()
	if r.conv.heard >= len(words) {
		return false, nil
	}
	text := company.FormatWord(toValidUTF8(words[r.conv.heard]))
	err = r.appendLater(ctx, kindNote,
		noteRecord{N: r.conv.requests, At: r.utcNow(), About: aboutWord, Text: text, Word: r.conv.heard + 1})
	if err == nil {
		r.emitEvent(Event{Kind: Noted, Text: safetext.EscapeLine(text, 300)})
	}
	return true, err
}

// refusesFinish returns why the work cannot be submitted yet: a message of the president is unread or not acted
// upon. It returns "" if there is no such message, or if a submission was already refused for it.
func (r *runner) refusesFinish() string {
	switch {
	case r.conv.finishRefused:
		return ""
	case len(r.cfg.Words()) > r.conv.heard:
		return "Not finished: the president has a message for you, which follows. It goes before the ticket. Act on it, " +
			"then finish."
	case r.conv.unanswered:
		return "Not finished: since the president's message you have done nothing. Act on it, then finish; where nothing " +
			"is to be done, finish again and say in the summary why."
	}
	return ""
}

// withRunID sets the run's id in an error that has none.
func (r *runner) withRunID(err error) error {
	var fault *company.Error
	if errors.As(err, &fault) && fault.RunID == "" {
		fault.RunID = r.cfg.Run
	}
	return err
}

// appendRecord journals one record and all pending ones, and folds it.
func (r *runner) appendRecord(ctx context.Context, kind string, rec any) error {
	return r.keepRecord(ctx, kind, rec, func(ctx context.Context, data json.RawMessage) error {
		_, err := r.cfg.Journal.Append(ctx, kind, data)
		return err
	})
}

// appendLater folds a record now and journals it with the next one. It is for steps between two requests that
// change only the conversation. The journal gets the record before the next request, so the model never sees
// unjournaled messages. If the process dies before that, these steps are repeated.
func (r *runner) appendLater(ctx context.Context, kind string, rec any) error {
	return r.keepRecord(ctx, kind, rec, func(ctx context.Context, data json.RawMessage) error {
		return r.cfg.Journal.AppendLater(ctx, kind, data)
	})
}

// storeRecords journals the pending records.
func (r *runner) storeRecords(ctx context.Context) error {
	ctx, cancel := detachContext(ctx)
	defer cancel()
	if err := r.cfg.Journal.Flush(ctx); err != nil {
		return fmt.Errorf("journal %s: %w", r.cfg.Run, NotKeptOf(err))
	}
	return nil
}

func (r *runner) keepRecord(
	ctx context.Context, kind string, rec any, add func(context.Context, json.RawMessage) error,
) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return company.E(company.EInternal, "cannot encode a journal record").Wrap(err)
	}
	r.recording.Lock()
	defer r.recording.Unlock()
	ctx, cancel := detachContext(ctx)
	defer cancel()
	if err := add(ctx, data); err != nil {
		return fmt.Errorf("journal %s: %w", r.cfg.Run, NotKeptOf(err))
	}
	if err := r.conv.foldRecord(ctx, r.cfg.Blobs, kind, data); err != nil {
		return err
	}
	r.traceTranscript(ctx)
	return nil
}

// LevelTrace is the log level of conversations (LOG-1).
const LevelTrace = slog.LevelDebug - 4

// traceTranscript logs what the transcript got since the last call.
func (r *runner) traceTranscript(ctx context.Context) {
	log := &r.conv.log
	for _, message := range log.Messages[min(r.tracedMessages, len(log.Messages)):] {
		r.cfg.Logger.Log(ctx, LevelTrace, "message", "run_id", r.cfg.Run, "from", message.Role, "text", message.Content)
	}
	for _, call := range log.ToolCalls[min(r.tracedCalls, len(log.ToolCalls)):] {
		r.cfg.Logger.Log(ctx, LevelTrace, "tool call", "run_id", r.cfg.Run, "tool", call.Name, "arguments", call.Arguments,
			"result", call.Result)
	}
	r.tracedMessages, r.tracedCalls = len(log.Messages), len(log.ToolCalls)
}

func detachContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}

func (r *runner) emitEvent(event Event) {
	event.Time = r.utcNow()
	event.Turn, event.Spent = cmp.Or(event.Turn, r.conv.turns), r.conv.spent
	r.cfg.OnEvent(event)
}

func (r *runner) utcNow() time.Time { return r.cfg.Now().UTC().Round(0) }

func contextCause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
