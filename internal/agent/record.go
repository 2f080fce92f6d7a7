package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// The kinds of journal record that a conversation is made of. Other kinds in
// the same journal belong to others.
const (
	kindOpened = "opened" // a holder of the run begins; the ledger writes it
	kindPrompt = "prompt" // what the conversation starts with
	kindCall   = "call"   // the model is about to be asked
	kindReply  = "reply"  // what came of it
	kindTool   = "tool"   // the result of one tool call
	kindNote   = "note"   // what the company tells the model
	kindMask   = "mask"   // old tool results leave the context
	kindDigest = "digest" // old turns leave the context, and a digest of them comes
	kindSaved  = "saved"  // the state that all results before it have led to was kept
	kindRedone = "redone" // calls were done again after an interruption
	kindLost   = "lost"   // later records were damaged, and are gone
)

// inlineLimit is the payload up to which a record carries it itself.
const inlineLimit = 16 << 10

type promptRecord struct {
	At     time.Time `json:"at"`
	System payload   `json:"system"`
	First  payload   `json:"first"`
	// Exact says that results that changed something have Saved beside them.
	Exact bool `json:"exact,omitempty"`
	// Driver names the driver that began the conversation, and Profile the model that its run was
	// bound to.
	Driver  string             `json:"driver,omitempty"`
	Profile company.BriefModel `json:"profile,omitzero"`
	// Hash is PromptHash of both; empty in journals of before there was one.
	Hash company.Hash `json:"hash,omitempty"`
	// Window and MaxOutput are the limits of the model, in tokens: with the same limits a
	// conversation is cleared at the same places. 0: not known.
	Window    int `json:"window,omitempty"`
	MaxOutput int `json:"max_output,omitempty"`
	// ToolTokens is an estimate of what the descriptions of the tools take of each request.
	ToolTokens int `json:"tool_tokens,omitempty"`
	// Seen are the contents of files that First shows.
	Seen []Seen `json:"seen,omitempty"`
	// Images are the images that First shows, by their digests.
	Images []company.Attachment `json:"images,omitempty"`
	// Shown is Job.Shown as JSON.
	// Nil: there is none.
	Shown *payload `json:"shown,omitempty"`
}

// callRecord is there before each request that goes out, retries and fallbacks
// too: one that nothing follows counts as its worst case.
type callRecord struct {
	N     int            `json:"n"`
	At    time.Time      `json:"at"`
	Model string         `json:"model,omitempty"`
	Worst company.Amount `json:"worst"`
	// Request is RequestHash of the request; empty: it is not known.
	Request company.Hash `json:"request,omitempty"`
	// Before is what an earlier attempt cost that ended without a record of its own, and BeforeN
	// the number of that attempt. A zero BeforeN means the call before this one.
	Before  *company.Amount `json:"before,omitempty"`
	BeforeN int             `json:"before_n,omitempty"`
}

// replyRecord is a reply, or the error that came in its place. Spent is the
// cost of the call with its number.
type replyRecord struct {
	N       int             `json:"n"` // of the call
	At      time.Time       `json:"at"`
	Message payload         `json:"message"` // adapters.Message as JSON
	Finish  adapters.Finish `json:"finish,omitempty"`
	Usage   adapters.Usage  `json:"usage"`
	Spent   company.Amount  `json:"spent"`
	Model   string          `json:"model,omitempty"`
	// Textual is the model that was given its tools in text: a process that
	// takes the run up again begins with that.
	Textual string        `json:"textual,omitempty"`
	Error   adapters.Kind `json:"error,omitempty"`
	Detail  string        `json:"detail,omitempty"`
	// FirstByteMS is how long the server took to the first piece of the reply; 0: it is
	// not known, or less than a millisecond.
	FirstByteMS int64 `json:"first_byte_ms,omitempty"`
}

type toolRecord struct {
	N          int             `json:"n"` // of the reply that asked
	CallID     string          `json:"call_id"`
	Name       string          `json:"name"`
	ArgsHash   company.Hash    `json:"args_hash"`
	At         time.Time       `json:"at"` // when it began
	DurationMS int64           `json:"duration_ms"`
	Result     payload         `json:"result"`          // what the model is shown
	Whole      company.Hash    `json:"whole,omitempty"` // the whole output, where that is more
	WholeBytes int             `json:"whole_bytes,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
	Failure    string          `json:"failure,omitempty"` // as of the Result
	NotRun     bool            `json:"not_run,omitempty"`
	Changed    bool            `json:"changed,omitempty"`
	NoLoop     bool            `json:"no_loop,omitempty"`
	Keep       bool            `json:"keep,omitempty"`
	Final      json.RawMessage `json:"final,omitempty"`
	Escalated  bool            `json:"escalated,omitempty"`
	// Same is an earlier call with the same result, which the model still has before it:
	// Result only says so.
	Same string `json:"same,omitempty"`
	// Answer is the whole result, where Result only shows what changed since an earlier call.
	Answer *payload `json:"answer,omitempty"`
	// Saved is what savedRecord has, in journals of before there was one.
	Saved *Saved `json:"saved,omitempty"`
	Seen  *Seen  `json:"seen,omitempty"`
}

// savedRecord is a state of the workspace that can be brought back: the one that
// all changes recorded before it have led to. Between the newest of them and this
// record there may be replies, and results that changed nothing.
type savedRecord struct {
	At    time.Time `json:"at"` // of the newest change
	Saved *Saved    `json:"saved"`
}

// redoneRecord says which calls were done again on an older state. Their
// results stay what they were, but for those that differ.
type redoneRecord struct {
	At     time.Time    `json:"at"`
	Calls  []string     `json:"calls"`
	Differ []difference `json:"differ,omitempty"`
	Saved  *Saved       `json:"saved,omitempty"`
}

// lostRecord stands for the records that came behind it and are gone. What they cost is unknown:
// the whole of the run's grant counts as spent.
type lostRecord struct {
	At      time.Time      `json:"at"`
	Granted company.Amount `json:"granted"`
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
	Word  int       `json:"word,omitempty"` // of the president's messages, from 1
}

// maskRecord clears the first Upto tool results of the conversation.
type maskRecord struct {
	N    int       `json:"n"`
	At   time.Time `json:"at"`
	Upto int       `json:"upto"`
}

// condenseRecord leaves the messages between the first one and the message Upto out of
// what the model is sent. Digest stands in their place: the text itself, so that a
// conversation that is read again is the same whatever makes digests then.
type condenseRecord struct {
	N      int       `json:"n"`
	At     time.Time `json:"at"`
	Upto   int       `json:"upto"`
	Digest payload   `json:"digest"`
}

// payload is text that goes into a blob when it is long.
type payload struct {
	Text string       `json:"text,omitempty"`
	Blob company.Hash `json:"blob,omitempty"`
}

// storePayload turns text into what a record carries.
func storePayload(ctx context.Context, blobs Blobs, text string) (payload, error) {
	if blobs == nil || len(text) <= inlineLimit {
		return payload{Text: text}, nil
	}
	h, err := blobs.PutBlob(ctx, []byte(text))
	if err != nil {
		return payload{}, fmt.Errorf("keep a journal payload: %w", NotKeptOf(err))
	}
	return payload{Blob: h}, nil
}

// load is the text of a payload.
func (p payload) load(ctx context.Context, blobs Blobs) (string, error) {
	if p.Blob == "" {
		return p.Text, nil
	}
	if blobs == nil {
		return "", company.E(company.EInternal, "the journal names a blob and there is no blob store")
	}
	b, err := blobs.GetBlob(ctx, p.Blob)
	if err != nil {
		return "", fmt.Errorf("read a journal payload %.12s: %w", p.Blob, err)
	}
	return string(b), nil
}

// foldRecord puts one journal record into the conversation. It is the only way into
// it, for a live run and for a resumed one, so the two cannot differ.
func (c *conversation) foldRecord(ctx context.Context, blobs Blobs, kind string, data json.RawMessage) error {
	var err error
	switch kind {
	case kindOpened:
		c.foldOpened()
	case kindPrompt:
		var r promptRecord
		if err = json.Unmarshal(data, &r); err != nil {
			break
		}
		var system, first string
		if system, err = r.System.load(ctx, blobs); err != nil {
			break
		}
		if first, err = r.First.load(ctx, blobs); err != nil {
			break
		}
		var shown []Shown
		if r.Shown != nil {
			var text string
			if text, err = r.Shown.load(ctx, blobs); err != nil {
				break
			}
			if err = json.Unmarshal([]byte(text), &shown); err != nil {
				break
			}
		}
		c.exact = r.Exact
		c.foldPrompt(r, system, first, shown)
	case kindCall:
		var r callRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldCall(r)
		}
	case kindReply:
		var r replyRecord
		if err = json.Unmarshal(data, &r); err != nil {
			break
		}
		if r.Error != "" {
			c.foldError(r)
			break
		}
		var text string
		var m adapters.Message
		if text, err = r.Message.load(ctx, blobs); err != nil {
			break
		}
		if err = json.Unmarshal([]byte(text), &m); err == nil {
			c.foldReply(r, m)
		}
	case kindTool:
		var r toolRecord
		if err = json.Unmarshal(data, &r); err != nil {
			break
		}
		var text string
		if text, err = r.Result.load(ctx, blobs); err != nil {
			break
		}
		answer := ""
		if r.Answer != nil {
			if answer, err = r.Answer.load(ctx, blobs); err != nil {
				break
			}
		}
		err = c.foldResult(r, text, answer)
	case kindNote:
		var r noteRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldNote(r)
		}
	case kindSaved:
		var r savedRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldSaved(r.Saved)
		}
	case kindRedone:
		var r redoneRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldRedone(r)
		}
	case kindLost:
		var r lostRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldLost(r)
		}
	case kindMask:
		var r maskRecord
		if err = json.Unmarshal(data, &r); err == nil {
			c.foldMask(r)
		}
	case kindDigest:
		var r condenseRecord
		if err = json.Unmarshal(data, &r); err != nil {
			break
		}
		var text string
		if text, err = r.Digest.load(ctx, blobs); err == nil {
			c.foldCondense(r, text)
		}
	}
	if err != nil {
		return fmt.Errorf("journal record %q: %w", kind, err)
	}
	return nil
}
