package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// The kinds of journal records that a conversation is folded from. Records of other kinds in the same journal
// belong to other writers.
const (
	kindOpened = "opened" // a process takes the run over; the ledger writes it
	kindPrompt = "prompt" // the system prompt and the first message
	kindCall   = "call"   // the model is about to be asked
	kindReply  = "reply"  // the reply, or the error instead of one
	kindTool   = "tool"   // the result of one tool call
	kindNote   = "note"   // a note for the model
	kindMask   = "mask"   // old tool results leave the context
	kindDigest = "digest" // old turns leave the context, and a digest replaces them
	kindSaved  = "saved"  // the state after all earlier results was saved
	kindRedone = "redone" // calls were repeated after an interruption
)

// inlineLimit is the largest payload in bytes that is stored in its record.
const inlineLimit = 16 << 10

type promptRecord struct {
	At     time.Time `json:"at"`
	System payload   `json:"system"`
	First  payload   `json:"first"`
	// Exact means that results with changes are followed by a record of the saved state.
	Exact bool `json:"exact,omitempty"`
	// Driver names the driver that began the conversation, and Profile the model that its run was
	// bound to.
	Driver  string             `json:"driver,omitempty"`
	Profile company.BriefModel `json:"profile,omitzero"`
	// Hash is the PromptHash of both. It is empty in journals of older versions.
	Hash company.Hash `json:"hash,omitempty"`
	// Window and MaxOutput are the limits of the model in tokens, 0 if unknown. With the same limits a conversation
	// is cleared at the same places.
	Window    int `json:"window,omitempty"`
	MaxOutput int `json:"max_output,omitempty"`
	// ToolTokens estimates the tokens of the tools' descriptions in each request.
	ToolTokens int `json:"tool_tokens,omitempty"`
	// Seen identifies the contents of files that First shows.
	Seen []Seen `json:"seen,omitempty"`
	// Images are the images that First shows, by their digests.
	Images []company.Attachment `json:"images,omitempty"`
	// Shown is Job.Shown as JSON, or nil without any.
	Shown *payload `json:"shown,omitempty"`
}

// callRecord is written before each request, including retries and fallbacks. Without a later record of its
// cost, the request counts as its worst case.
type callRecord struct {
	N     int            `json:"n"`
	At    time.Time      `json:"at"`
	Model string         `json:"model,omitempty"`
	Worst company.Amount `json:"worst"`
	// Request is the RequestHash of the request, or empty if it is unknown.
	Request company.Hash `json:"request,omitempty"`
	// Before is the cost of an earlier attempt that ended without its own record. BeforeN is the number of that
	// attempt. A zero BeforeN means the call before this one.
	Before  *company.Amount `json:"before,omitempty"`
	BeforeN int             `json:"before_n,omitempty"`
}

// replyRecord is a reply, or the error instead of one. Spent is the cost of the call with the same number.
type replyRecord struct {
	N       int             `json:"n"` // of the call
	At      time.Time       `json:"at"`
	Message payload         `json:"message"` // adapters.Message as JSON
	Finish  adapters.Finish `json:"finish,omitempty"`
	Usage   adapters.Usage  `json:"usage"`
	Spent   company.Amount  `json:"spent"`
	Model   string          `json:"model,omitempty"`
	// Textual is the model that got its tools as text. A process that resumes the run starts with text tools again.
	Textual string        `json:"textual,omitempty"`
	Error   adapters.Kind `json:"error,omitempty"`
	Detail  string        `json:"detail,omitempty"`
	// FirstByteMS is the time to the first piece of the reply in milliseconds. It is 0 if that is unknown or less
	// than a millisecond.
	FirstByteMS int64 `json:"first_byte_ms,omitempty"`
	// Relayed means that another program asked the model and has the reply. Turn means that it counts as a turn.
	Relayed bool `json:"relayed,omitempty"`
	Turn    bool `json:"turn,omitempty"`
}

type toolRecord struct {
	N          int             `json:"n"` // number of the reply with the call
	CallID     string          `json:"call_id"`
	Name       string          `json:"name"`
	ArgsHash   company.Hash    `json:"args_hash"`
	At         time.Time       `json:"at"` // when it began
	DurationMS int64           `json:"duration_ms"`
	Result     payload         `json:"result"`          // as shown to the model
	Whole      company.Hash    `json:"whole,omitempty"` // the whole output, if it is larger
	WholeBytes int             `json:"whole_bytes,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
	Failure    string          `json:"failure,omitempty"` // as in Result
	NotRun     bool            `json:"not_run,omitempty"`
	Changed    bool            `json:"changed,omitempty"`
	NoLoop     bool            `json:"no_loop,omitempty"`
	Keep       bool            `json:"keep,omitempty"`
	Final      json.RawMessage `json:"final,omitempty"`
	Escalated  bool            `json:"escalated,omitempty"`
	// Same is an earlier call with the same result, which the model still has. Result only refers to it.
	Same string `json:"same,omitempty"`
	// Answer is the whole result if Result shows only the changes since an earlier call.
	Answer *payload `json:"answer,omitempty"`
	// Saved is the state of a savedRecord, in journals of older versions.
	Saved *Saved `json:"saved,omitempty"`
	Seen  *Seen  `json:"seen,omitempty"`
	// Masked means that Result has masks in place of secrets.
	Masked bool `json:"masked,omitempty"`
}

// savedRecord is a state of the workspace that can be restored. It includes all changes that were recorded
// before it. Replies and results without changes may be recorded between the newest change and this record.
type savedRecord struct {
	At    time.Time `json:"at"` // of the newest change
	Saved *Saved    `json:"saved"`
	// Session is a program's own conversation, and Home the files that it keeps it in, as base64. A program that keeps
	// none has neither.
	Session string   `json:"session,omitempty"`
	Home    *payload `json:"home,omitempty"`
	Heard   int      `json:"heard,omitempty"` // messages of the president in that conversation
}

// redoneRecord lists calls that were repeated on an older state. Their results stay as recorded, except for
// those in Differ.
type redoneRecord struct {
	At     time.Time    `json:"at"`
	Calls  []string     `json:"calls"`
	Differ []difference `json:"differ,omitempty"`
	Saved  *Saved       `json:"saved,omitempty"`
}

type difference struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

type noteRecord struct {
	N     int       `json:"n"`
	At    time.Time `json:"at"`
	About noteTopic `json:"about"`
	Text  string    `json:"text"`
	Word  int       `json:"word,omitempty"` // number of the president's message, from 1
}

// maskRecord clears the first Upto tool results of the conversation.
type maskRecord struct {
	N    int       `json:"n"`
	At   time.Time `json:"at"`
	Upto int       `json:"upto"`
}

// condenseRecord leaves the messages between the first one and the message Upto out of requests and puts Digest
// in their place. It holds the text itself, so a later version that makes other digests still reads the same
// conversation.
type condenseRecord struct {
	N      int       `json:"n"`
	At     time.Time `json:"at"`
	Upto   int       `json:"upto"`
	Digest payload   `json:"digest"`
}

// payload is text that is stored in a blob if it is long.
type payload struct {
	Text string       `json:"text,omitempty"`
	Blob company.Hash `json:"blob,omitempty"`
}

// storePayload returns text as the payload of a record, and stores long text in a blob.
func storePayload(ctx context.Context, blobs Blobs, text string) (payload, error) {
	if blobs == nil || len(text) <= inlineLimit {
		return payload{Text: text}, nil
	}
	hash, err := blobs.PutBlob(ctx, []byte(text))
	if err != nil {
		return payload{}, fmt.Errorf("keep a journal payload: %w", NotKeptOf(err))
	}
	return payload{Blob: hash}, nil
}

// load returns the text of a payload.
func (p payload) load(ctx context.Context, blobs Blobs) (string, error) {
	if p.Blob == "" {
		return p.Text, nil
	}
	if blobs == nil {
		return "", company.E(company.EInternal, "the journal names a blob, but there is no blob store")
	}
	b, err := blobs.GetBlob(ctx, p.Blob)
	if err != nil {
		return "", fmt.Errorf("read a journal payload %.12s: %w", p.Blob, err)
	}
	return string(b), nil
}

// foldRecord applies one journal record to the conversation. Nothing else changes it, in a live run or a resumed
// one, so the two cannot differ.
func (c *conversation) foldRecord(ctx context.Context, blobs Blobs, kind string, data json.RawMessage) error {
	var err error
	switch kind {
	case kindOpened:
		c.foldOpened()
	case kindPrompt:
		err = c.readPrompt(ctx, blobs, data)
	case kindCall:
		var r callRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldCall(r)
		}
	case kindReply:
		err = c.readReply(ctx, blobs, data)
	case kindTool:
		err = c.readToolResult(ctx, blobs, data)
	case kindNote:
		var r noteRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldNote(r)
		}
	case kindSaved:
		var r savedRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldSaved(r.Saved)
			c.session, c.home = r.Session, r.Home
			c.saved = r.Heard
		}
	case kindRedone:
		var r redoneRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldRedone(r)
		}
	case kindMask:
		var r maskRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldMask(r)
		}
	case kindProgram:
		err = c.readProgram(ctx, blobs, data)
	case kindDigest:
		var record condenseRecord
		if err = json.Unmarshal(data, &record); err != nil {
			break
		}
		var text string
		if text, err = record.Digest.load(ctx, blobs); err == nil {
			c.foldCondense(record, text)
		}
	}
	if err != nil {
		return fmt.Errorf("journal record %q: %w", kind, err)
	}
	return nil
}

// readPrompt folds a prompt. Its texts may be in blobs.
func (c *conversation) readPrompt(ctx context.Context, blobs Blobs, data json.RawMessage) error {
	var record promptRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	system, err := record.System.load(ctx, blobs)
	if err != nil {
		return err
	}
	first, err := record.First.load(ctx, blobs)
	if err != nil {
		return err
	}
	var shown []Shown
	if record.Shown != nil {
		text, err := record.Shown.load(ctx, blobs)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &shown); err != nil {
			return err
		}
	}
	c.exact = record.Exact
	c.foldPrompt(record, system, first, shown)
	return nil
}

// readReply folds a model's reply, or the error instead of one.
func (c *conversation) readReply(ctx context.Context, blobs Blobs, data json.RawMessage) error {
	var record replyRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	switch {
	case record.Relayed:
		c.foldUsage(record)
		if record.Turn {
			c.turns++
		}
		return nil
	case record.Error != "":
		c.foldError(record)
		return nil
	}
	text, err := record.Message.load(ctx, blobs)
	if err != nil {
		return err
	}
	var message adapters.Message
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		return err
	}
	c.foldReply(record, message)
	return nil
}

// readToolResult folds the result of a tool call.
func (c *conversation) readToolResult(ctx context.Context, blobs Blobs, data json.RawMessage) error {
	var record toolRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	text, err := record.Result.load(ctx, blobs)
	if err != nil {
		return err
	}
	answer := ""
	if record.Answer != nil {
		if answer, err = record.Answer.load(ctx, blobs); err != nil {
			return err
		}
	}
	return c.foldResult(record, text, answer)
}
