package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"company/internal/adapters"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// meterModel wraps a model so that every request reserves its cost and is recorded before it is sent.
func (r *runner) meterModel(m adapters.Model) adapters.Model {
	return budget.Meter(m, r.cfg.Allowance, r)
}

// OpenCall implements budget.CallLog.
func (r *runner) OpenCall(
	ctx context.Context, info adapters.Info, req adapters.Request, worst company.Amount,
) (int, error) {
	if err := contextCause(ctx); err != nil {
		return 0, err
	}
	rec := callRecord{N: r.conv.requests + 1, At: r.utcNow(), Model: info.Model, Worst: worst,
		Request: r.hasher.hashRequest(req)}
	if _, open := r.conv.open[r.costOf]; open {
		rec.Before, rec.BeforeN = r.cost, r.costOf
	}
	r.cost = nil
	return rec.N, r.appendRecord(ctx, kindCall, rec)
}

// CloseCall keeps the cost for the next record. Without a next record the call counts as its worst case.
func (r *runner) CloseCall(_ context.Context, n int, usage adapters.Usage, actual company.Amount) error {
	r.cost, r.costOf = &actual, n
	r.cut = usage.Estimated
	return nil
}

// askModel requests one reply from the model.
func (r *runner) askModel(ctx context.Context) error {
	if err := r.cfg.Halt(); err != nil {
		return err
	}
	r.emitEvent(Event{Kind: TurnStarted, Turn: r.conv.turns + 1})
	r.cost, r.cut = nil, false
	began := time.Now()
	request := r.conv.buildRequest(r.tools.specs)
	resp, err := r.cfg.model.Chat(ctx, request, func(event adapters.Event) {
		switch {
		case event.Waiting > 0:
			r.emitEvent(
				Event{Kind: Waiting, Turn: r.conv.turns + 1, Wait: event.Waiting, Longest: event.Longest, Asked: event.Asked,
					Text: safetext.EscapeLine(event.Reason, 200)})
		case event.Reason != "":
			r.emitEvent(Event{Kind: Switched, Turn: r.conv.turns + 1, Text: safetext.EscapeLine(event.Reason, 200)})
		}
	})
	if err != nil {
		return r.recordFailure(ctx, err)
	}

	message := sanitizeReply(resp.Message)
	rec := replyRecord{N: r.conv.requests, At: r.utcNow(), Finish: resp.Finish, Usage: sanitizeUsage(resp.Usage),
		Spent: r.lastCallCost(), Model: toValidUTF8(truncateText(resp.Model)), FirstByteMS: resp.FirstByte.Milliseconds()}
	if resp.Textual {
		rec.Textual = toValidUTF8(resp.Served.Model)
	}
	text, err := json.Marshal(message)
	if err != nil {
		return company.E(company.EInternal, "cannot record a model's reply").Wrap(err)
	}
	keep, cancel := detachContext(ctx)
	defer cancel()
	if rec.Message, err = storePayload(keep, r.cfg.Blobs, string(text)); err != nil {
		return err
	}
	if err := r.appendRecord(ctx, kindReply, rec); err != nil {
		return err
	}
	r.emitEvent(
		Event{Kind: Replied, Turn: r.conv.turns, Text: safetext.EscapeLine(message.Content, 300), Usage: rec.Usage,
			Duration: time.Since(began)})
	return nil
}

// recordFailure records why there is no reply. It returns an error if the run must end.
func (r *runner) recordFailure(ctx context.Context, err error) error {
	if stop := contextCause(ctx); stop != nil {
		r.settleCutCall(ctx)
		return stop
	}
	kind := adapters.KindOf(err)
	if kind == adapters.BadRequest && r.conv.mayBeFull(err) {
		kind = adapters.TooLong
	}
	if _, open := r.conv.newestCall(); open {
		rec := replyRecord{N: r.conv.requests, At: r.utcNow(), Spent: r.lastCallCost(), Error: kind,
			Detail: safetext.EscapeLine(err.Error(), 1024)}
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
		return err // from the allowance or the journal
	}
	return r.withRunID(adapters.Explain(err, r.cfg.model.Info()))
}

// settleCutCall records the cost of a call that was cut with its run before it was answered, or while its server
// was awaited. Without this record the call counts as its worst case.
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

// errorCut is the error kind in the record of a call that was cut with its run.
const errorCut adapters.Kind = "cut"

// lastCallCost returns the cost of the newest call, by default its worst case.
func (r *runner) lastCallCost() company.Amount {
	if r.cost != nil {
		return *r.cost
	}
	call, _ := r.conv.newestCall()
	return call.Worst
}

// sanitizeReply changes a reply so that it survives JSON encoding unchanged. The text and the arguments of its
// calls stay whole, because the driver has limited the reply.
func sanitizeReply(message adapters.Message) adapters.Message {
	out := adapters.Message{Role: adapters.Assistant, Content: toValidUTF8(message.Content), CallBytes: message.CallBytes}
	for _, call := range message.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, adapters.ToolCall{
			ID: toValidUTF8(truncateText(call.ID)), Name: toValidUTF8(truncateText(call.Name)),
			Arguments: toValidUTF8(call.Arguments),
		})
		// Bound the calls of one reply. Calls over MaxCalls are only counted for the reminder.
		if len(out.ToolCalls) == 8*MaxCalls {
			break
		}
	}
	if len(message.Opaque) <= maxOpaque && json.Valid(message.Opaque) {
		out.Opaque = message.Opaque
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

// sanitizeUsage corrects impossible counts.
func sanitizeUsage(usage adapters.Usage) adapters.Usage {
	usage.InputTokens, usage.OutputTokens = max(0, usage.InputTokens), max(0, usage.OutputTokens)
	usage.CachedTokens = min(max(0, usage.CachedTokens), usage.InputTokens)
	usage.WrittenTokens = min(max(0, usage.WrittenTokens), usage.InputTokens-usage.CachedTokens)
	return usage
}
