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

// Recording is the conversation of a run from its journal: each answered request with its answer.
type Recording struct {
	Began time.Time // zero if the conversation never began
	// Window and MaxOutput are the limits of the model in tokens, 0 if unknown.
	Window, MaxOutput int
	Model             string // the model that was asked first, empty if unknown
	Program           string // another program that was the agent, whose conversation is not recorded
	Interrupted       bool   // a process that held the run ended, and another one continued
	Exchanges         []Exchange
	Clearings         []Clearing // removals from the context, in order
}

// Exchange is a request of a run's agent and the answer to it.
type Exchange struct {
	N        int          // the request's number; after retries, the number of the last try
	Request  company.Hash // its RequestHash, empty if unknown
	Messages []adapters.Message
	Heard    int // messages of the president that the agent had read

	At      time.Time // of the answer
	Answer  adapters.Response
	Textual string        // the model that got its tools as text, empty for tools over the wire
	Failure adapters.Kind // kind of the error, empty if there is an answer
	Detail  string        // of that error
}

// ReadRecording builds the recording of a run. journal passes the records of the run's journal to its argument
// in order. Traces of an interruption (a request without an answer, the notes about the restart) are left out.
func ReadRecording(
	ctx context.Context, blobs Blobs, journal func(fn func(kind string, data json.RawMessage) error) error,
) (Recording, error) {
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
				rec.Began = p.At
				rec.Window = p.Window
				rec.MaxOutput = p.MaxOutput
				if p.Driver != loopDriver {
					rec.Program = p.Driver
				}
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

// addReply adds an exchange for a reply's record. A request that was cut with its run is left out.
func (rec *Recording) addReply(ctx context.Context, blobs Blobs, open map[int]Exchange, data json.RawMessage) error {
	var r replyRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	exchange, ok := open[r.N]
	delete(open, r.N)
	if !ok || r.Error == errorCut || r.Relayed {
		return nil
	}
	if r.Error == "" {
		text, err := r.Message.load(ctx, blobs)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &exchange.Answer.Message); err != nil {
			return err
		}
	}
	exchange.At = r.At
	exchange.Failure = r.Error
	exchange.Detail = r.Detail
	exchange.Textual = r.Textual
	exchange.Answer.Finish = r.Finish
	exchange.Answer.Usage = r.Usage
	exchange.Answer.Model = r.Model
	rec.Exchanges = append(rec.Exchanges, exchange)
	return nil
}

// unusedModel is the model of a conversation that is only read.
type unusedModel struct{}

func (unusedModel) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	return adapters.Response{}, company.E(company.EInternal, "cannot call the model while reading a transcript")
}

func (unusedModel) Info() adapters.Info { return adapters.Info{MaxOutput: 1} }

// GateOutput is the tag of the output of gates in a prompt.
const GateOutput = "gate_output"

// DifferInGateOutput reports whether two prompts differ in the output of gates, and apart from that only in
// times. Test runners print packages in the order in which they end. The verdicts themselves are compared
// separately.
func DifferInGateOutput(a, b string) bool {
	return stripTimes(a) != stripTimes(b) && stripTimes(dropGateOutput(a)) == stripTimes(dropGateOutput(b))
}

// dropGateOutput removes the text between the tags that Quote wrote.
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

// SteadyText replaces each time and duration of a text by a placeholder. CompareMessages compares such texts.
func SteadyText(text string) string { return stripTimes(text) }

// CompareMessages compares the messages of a request with those of its recording, ignoring times. first is the
// index of the first difference, or -1 without one. Results of tools and the output of gates may differ, because
// replies do not depend on them. differ lists the indexes of such messages. With otherPrompts, the messages that
// this program writes may differ too.
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
