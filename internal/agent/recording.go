package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// Recording is the conversation of a run as its journal has it: each request that was
// answered, with the answer.
type Recording struct {
	Began time.Time // zero: the conversation was never begun
	// Window and MaxOutput are the limits of the model, in tokens; 0: not known.
	Window, MaxOutput int
	Model             string // that was asked first; empty: it is not known
	Interrupted       bool   // a process that held the run ended, and another one went on
	Exchanges         []Exchange
	Clearings         []Clearing // what left the context, in order
}

// Exchange is a request of a run's agent and the answer to it.
type Exchange struct {
	N        int          // the request's number; of one that was tried again: that of the last try
	Request  company.Hash // RequestHash of it; empty: it is not known
	Messages []adapters.Message
	Heard    int // messages of the president that the agent had read

	At      time.Time // of the answer
	Answer  adapters.Response
	Textual string        // the model that was given its tools in text; empty: none
	Failure adapters.Kind // of an error in place of the answer; empty: there is an answer
	Detail  string        // of that error
}

// ReadRecording makes the recording of a run from the records of its journal, which
// journal passes to its argument in order. What an interruption left in the journal (a
// request without an answer, the notes about the restart) is no part of it.
func ReadRecording(ctx context.Context, blobs Blobs, journal func(fn func(kind string, data json.RawMessage) error) error) (Recording, error) {
	var rec Recording
	conv := newConversation(config{model: unusedModel{}}.withDefaults())
	open := map[int]Exchange{} // requests without a reply, by number
	var notes restartNotes
	err := journal(func(kind string, data json.RawMessage) error {
		switch kind {
		case kindPrompt:
			var p promptRecord
			if err := json.Unmarshal(data, &p); err != nil {
				return fmt.Errorf("journal record %q: %w", kind, err)
			}
			if rec.Began.IsZero() {
				rec.Began, rec.Window, rec.MaxOutput = p.At, p.Window, p.MaxOutput
			}
		case kindNote:
			var n noteRecord
			if err := json.Unmarshal(data, &n); err != nil {
				return fmt.Errorf("journal record %q: %w", kind, err)
			}
			if n.About == noteRestart {
				rec.Interrupted = true
				notes.leaveOut(conv.msgs)
				return nil
			}
		case kindRedone:
			rec.Interrupted = true
			return nil
		case kindCall:
			var c callRecord
			if err := json.Unmarshal(data, &c); err != nil {
				return fmt.Errorf("journal record %q: %w", kind, err)
			}
			if rec.Model == "" {
				rec.Model = c.Model
			}
			open[c.N] = Exchange{N: c.N, Request: c.Request, Messages: conv.buildRequest(nil).Messages, Heard: conv.heard}
		case kindReply:
			if err := rec.addReply(ctx, blobs, open, data); err != nil {
				return fmt.Errorf("journal record %q: %w", kind, err)
			}
		}
		notes.passRecord(kind)
		data, err := rec.addClearing(ctx, blobs, kind, data, &notes)
		if err != nil {
			return fmt.Errorf("journal record %q: %w", kind, err)
		}
		return conv.foldRecord(ctx, blobs, kind, data)
	})
	return rec, err
}

// addReply adds the request of a reply's record, with the reply. A request that was cut is left
// out.
func (rec *Recording) addReply(ctx context.Context, blobs Blobs, open map[int]Exchange, data json.RawMessage) error {
	var r replyRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	x, ok := open[r.N]
	delete(open, r.N)
	if !ok || r.Error == errorCut {
		return nil
	}
	if r.Error == "" {
		text, err := r.Message.load(ctx, blobs)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &x.Answer.Message); err != nil {
			return err
		}
	}
	x.At, x.Failure, x.Detail, x.Textual = r.At, r.Error, r.Detail, r.Textual
	x.Answer.Finish, x.Answer.Usage, x.Answer.Model = r.Finish, r.Usage, r.Model
	rec.Exchanges = append(rec.Exchanges, x)
	return nil
}

// unusedModel stands where a conversation is only read.
type unusedModel struct{}

func (unusedModel) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	return adapters.Response{}, company.E(company.EInternal, "a conversation that is only read asks no model")
}

func (unusedModel) Info() adapters.Info { return adapters.Info{MaxOutput: 1} }

// GateOutput is the tag of what gates printed, in a prompt.
const GateOutput = "gate_output"

// DifferInGateOutput says whether two prompts are the same but for what gates printed, and
// for times. Test runners print packages in the order in which they end; the verdicts
// themselves are compared apart.
func DifferInGateOutput(a, b string) bool {
	return stripTimes(a) != stripTimes(b) && stripTimes(dropGateOutput(a)) == stripTimes(dropGateOutput(b))
}

// dropGateOutput leaves out what stands between the tags that Quote has written.
func dropGateOutput(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<"+GateOutput+">\n")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("<" + GateOutput + ">\n")
		_, text, _ = strings.Cut(rest, "</"+GateOutput+">\n")
	}
}

// SteadyText is a text with a sign in place of each time and duration, which differ from run
// to run: CompareMessages compares texts so.
func SteadyText(text string) string { return stripTimes(text) }

// CompareMessages compares the messages of a request with those of its recording. first is
// the first one that is another, times apart; -1: none is. The results of tools may
// differ, since replies do not depend on them, and so may what gates printed: differ lists
// the places of those. With otherPrompts so may the messages that the program itself writes.
func CompareMessages(recorded, now []adapters.Message, otherPrompts bool) (first int, differ []int) {
	for i := range max(len(recorded), len(now)) {
		if i >= len(recorded) || i >= len(now) {
			return i, differ
		}
		was, is := recorded[i], now[i]
		if isSameMessage(was, is) {
			continue
		}
		same := stripTimes(was.Content) == stripTimes(is.Content)
		if !same && was.Role == adapters.User && DifferInGateOutput(was.Content, is.Content) {
			differ = append(differ, i)
			same = true
		}
		free := was.Role == adapters.ToolRole || otherPrompts && was.Role != adapters.Assistant
		if !same && free && is.Role == was.Role {
			differ = append(differ, i)
			same = true
		}
		was.Content = is.Content
		if !same || !isSameMessage(was, is) {
			return i, differ
		}
	}
	return -1, differ
}
