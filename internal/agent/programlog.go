package agent

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// kindProgram is the kind of journal records of what a program printed.
const kindProgram = "program"

// ProgramStep is a part of what a program says or does: lines of text, or a call of one of its own tools.
type ProgramStep struct {
	Text    string // escaped lines, or the result of a call
	Tool    string // empty for text
	CallID  string
	Args    string // of a call, as JSON
	IsError bool   // of a call
	Took    time.Duration
}

// programRecord is a step of a program.
type programRecord struct {
	At      time.Time `json:"at"`
	Text    payload   `json:"text"`
	Tool    string    `json:"tool,omitempty"`
	CallID  string    `json:"call_id,omitempty"`
	Args    *payload  `json:"args,omitempty"`
	IsError bool      `json:"is_error,omitempty"`
	TookMS  int64     `json:"took_ms,omitempty"`
}

func (c *conversation) readProgram(ctx context.Context, blobs Blobs, data json.RawMessage) error {
	var record programRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	text, err := record.Text.load(ctx, blobs)
	if err != nil || record.Tool == "" {
		c.log.addMessage(adapters.Assistant, text, record.At)
		return err
	}
	args := ""
	if record.Args != nil {
		if args, err = record.Args.load(ctx, blobs); err != nil {
			return err
		}
	}
	c.log.ToolCalls = append(c.log.ToolCalls, TranscriptCall{ID: record.CallID, Name: record.Tool, Arguments: args,
		Result: text, IsError: record.IsError, Timestamp: record.At, DurationMS: record.TookMS})
	return nil
}

// ProgramLog journals the run of a program. It is safe for concurrent use.
type ProgramLog struct {
	// System and First are the texts that the run began with. First has the president's messages since, too.
	System, First string
	// Saved is the program's conversation that an earlier process saved.
	Saved ProgramConversation
	// Unsaved are messages of the president that were told later than that.
	Unsaved string

	mu    sync.Mutex
	r     *runner
	shown int // bytes of steps so far
}

// BeginProgram begins the journal of a program's run, or continues that of an earlier process. driver names the
// program's driver.
func BeginProgram(ctx context.Context, job Job, driver string, profile company.BriefModel) (*ProgramLog, error) {
	r := &runner{cfg: config{Job: job}.withDefaults()}
	r.conv = newTranscriptReader(job.Run, r.cfg.Agent)
	err := r.cfg.Journal.Read(ctx, func(_ int, kind string, data json.RawMessage) error {
		return r.conv.foldRecord(ctx, r.cfg.Blobs, kind, data)
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", job.Run, err)
	}
	log := &ProgramLog{r: r, System: job.System, First: job.First}
	if r.conv.begun {
		if was := r.conv; was.driver != driver || was.profile != profile {
			return nil, r.withRunID(company.E(company.EConflict, "another agent started this run").
				Because(fmt.Sprintf("its journal names %s with %s", was.driver, was.profile.Profile)).
				Fix("the next run of the ticket begins on what was pushed"))
		}
		log.System, log.First = r.conv.msgs[0].Content, r.conv.msgs[1].Content
		if err := log.loadSession(ctx); err != nil {
			return nil, err
		}
		r.resumed = true
		r.emitEvent(Event{Kind: Resumed})
		return log, nil
	}
	record := promptRecord{At: r.utcNow(), Driver: driver, Profile: profile, Hash: PromptHash(job.System, job.First)}
	if record.System, err = storePayload(ctx, job.Blobs, toValidUTF8(job.System)); err != nil {
		return nil, err
	}
	if record.First, err = storePayload(ctx, job.Blobs, toValidUTF8(job.First)); err != nil {
		return nil, err
	}
	return log, r.appendRecord(ctx, kindPrompt, record)
}

// loadSession reads the newest conversation that was saved.
func (l *ProgramLog) loadSession(ctx context.Context) error {
	conv := l.r.conv
	if conv.session == "" || conv.home == nil {
		return nil
	}
	text, err := conv.home.load(ctx, l.r.cfg.Blobs)
	if err == nil {
		l.Saved.Home, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil {
		return fmt.Errorf("read the conversation of a program: %w", err)
	}
	l.Saved.Session, l.Saved.Heard = conv.session, conv.saved
	l.Unsaved = joinWords(conv.words[min(conv.saved, len(conv.words)):])
	return nil
}

// ProgramConversation is a program's own conversation, which it can continue.
type ProgramConversation struct {
	Session string // the program's id of it, empty for none
	Home    []byte // the files that the program keeps it in, from ProgramPlace.ReadHome
	Heard   int    // messages of the president in it
}

// NoteSaved journals a state that the run can be continued from.
func (l *ProgramLog) NoteSaved(ctx context.Context, saved *Saved, talk ProgramConversation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	record := savedRecord{At: l.r.utcNow(), Saved: saved, Heard: talk.Heard}
	if talk.Session != "" && len(talk.Home) > 0 {
		packed, err := storePayload(ctx, l.r.cfg.Blobs, base64.StdEncoding.EncodeToString(talk.Home))
		if err != nil {
			return err
		}
		record.Session, record.Home = talk.Session, &packed
	}
	return l.r.appendRecord(ctx, kindSaved, record)
}

// TellWords returns the messages of the president that the program has not read, and journals that it reads them now.
func (l *ProgramLog) TellWords(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.r.conv.words)
	for told := true; told; {
		var err error
		if told, err = l.r.tellWord(ctx); err != nil {
			return "", err
		}
	}
	return joinWords(l.r.conv.words[before:]), l.r.storeRecords(ctx)
}

func joinWords(words []presidentWord) string {
	var out []string
	for _, word := range words {
		out = append(out, word.text)
	}
	return strings.Join(out, "\n\n")
}

// NoteStep journals a step of the program, and shows it. Of a program that says more than MaxOutput bytes the rest is
// left out.
func (l *ProgramLog) NoteStep(ctx context.Context, step ProgramStep) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown > MaxOutput {
		return nil
	}
	if l.shown += len(step.Text) + len(step.Args); l.shown > MaxOutput {
		step = ProgramStep{Text: fmt.Sprintf("[what follows is left out: more than %d MiB]\n", MaxOutput>>20)}
	}
	redact := func(text string) string { return l.r.cfg.Redact(toValidUTF8(text)) }
	step.Text, step.Args = redact(step.Text), redact(step.Args)
	record := programRecord{At: l.r.utcNow(), Tool: toValidUTF8(truncateText(step.Tool)),
		CallID: toValidUTF8(truncateText(step.CallID)), IsError: step.IsError,
		TookMS: step.Took.Milliseconds()}
	var err error
	if record.Text, err = storePayload(ctx, l.r.cfg.Blobs, step.Text); err != nil {
		return err
	}
	event := Event{Kind: Printed, Text: safetext.EscapeLine(findLastLine(step.Text), 300)}
	if step.Tool != "" {
		args, err := storePayload(ctx, l.r.cfg.Blobs, step.Args)
		if err != nil {
			return err
		}
		record.Args = &args
		event = Event{Kind: ToolDone, Tool: safetext.EscapeLine(step.Tool, 64), CallID: record.CallID,
			Args: shownArgument(step.Args), Text: safetext.EscapeLine(step.Text, 300), IsError: step.IsError,
			Duration: step.Took}
	}
	l.r.emitEvent(event)
	return l.r.appendRecord(ctx, kindProgram, record)
}

// OpenCall journals a request that the program makes, before it is sent.
func (l *ProgramLog) OpenCall(
	ctx context.Context, model string, request company.Hash, worst company.Amount,
) (int, error) {
	if err := contextCause(ctx); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	record := callRecord{N: l.r.conv.requests + 1, At: l.r.utcNow(), Model: model, Worst: worst, Request: request}
	return record.N, l.r.appendRecord(ctx, kindCall, record)
}

// RelayedCall is the end of a request that a program made.
type RelayedCall struct {
	Usage     adapters.Usage
	Spent     company.Amount
	Model     string        // as the server named it
	FirstByte time.Duration // from the request to the first piece of the reply, 0 if unknown
	Turn      bool          // it is a reply that counts as a turn
	Err       error         // why there is no reply, nil for a reply
}

// CloseCall journals the end of request n and its cost.
func (l *ProgramLog) CloseCall(ctx context.Context, n int, call RelayedCall) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	record := replyRecord{N: n, At: l.r.utcNow(), Relayed: true, Turn: call.Turn, Usage: sanitizeUsage(call.Usage),
		Spent: call.Spent, Model: toValidUTF8(truncateText(call.Model)), FirstByteMS: call.FirstByte.Milliseconds()}
	if call.Err != nil {
		record.Error = cmp.Or(adapters.KindOf(call.Err), errorCut)
		record.Detail = safetext.EscapeLine(call.Err.Error(), 1024)
	}
	return l.r.appendRecord(ctx, kindReply, record)
}

// Emit shows an event of the run.
func (l *ProgramLog) Emit(event Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.r.emitEvent(event)
}

// Turns returns the number of turns so far.
func (l *ProgramLog) Turns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.conv.turns
}

// Outcome describes the run so far.
func (l *ProgramLog) Outcome() Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.buildOutcome()
}

func findLastLine(lines string) string {
	lines = strings.TrimRight(lines, "\r\n ")
	return lines[strings.LastIndexByte(lines, '\n')+1:]
}
