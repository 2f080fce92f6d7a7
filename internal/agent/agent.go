// Package agent holds the tool-calling conversation that every role uses: a
// model asks for tools, the tools answer, until one of them ends it.
//
// It owns the order of the conversation, its limits (turns, context, output),
// the checks on a model's replies, the detection of a model that goes in
// circles, and the transcript. It promises that
//
//   - Whatever enters the conversation is in the journal first, and the
//     conversation is a fold of the journal. A run that is started again over
//     its journal goes on where it was: a reply that was journaled is never
//     asked for again, so a crash repeats at most one model call. A result that
//     changed the workspace is journaled with the state that holds the change,
//     or done again; a call without a result is done again on the state before.
//   - No model call is made after the context ended, none without having been
//     reserved from the allowance, and none without a journaled worst case.
//   - Whatever a model sends (no text, half a reply, broken JSON, unknown
//     tools, the same call for ever) ends in a tool error that it can repair,
//     in an End, or in an error: never in a panic and never in an endless run.
//
// It does not know what the tools do, where they run, or what a finished run
// means: completion is decided elsewhere, from facts.
package agent

import (
	"context"
	"encoding/json"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// Limits that no configuration loosens.
const (
	DefaultTurns   = 30        // model replies of one run
	AssumedContext = 128_000   // tokens, for a model whose context size is not known
	MaxResult      = 64 << 10  // bytes of one tool result that the model is shown
	MaxOutput      = 10 << 20  // bytes of tool results that one run is shown
	MaxWhole       = 64 << 20  // bytes of whole outputs that one run keeps beside that
	MaxWritten     = 64 << 20  // bytes of replies of one run, which are all kept in memory
	MaxCalls       = 32        // tool calls of one reply
	MaxArguments   = 1 << 20   // bytes of one call's arguments
	maxContent     = 256 << 10 // bytes of a reply's text that go back to the model; the journal has all
	maxOpaque      = 1 << 20   // bytes of a reply's own thinking, which goes back with each request
	maxParallel    = 8
)

// Tool is one function that the model can call.
type Tool struct {
	Spec adapters.Tool
	// Unsent are properties of the schema that no model is sent: other forms of the
	// arguments, which stay accepted.
	Unsent []string
	// Hidden says that no model is offered the tool: an older name of what another tool
	// does, which stays accepted.
	Hidden bool
	// ReadOnly says that the call changes nothing: it may run beside other
	// read-only calls of the same reply, and again after a crash.
	ReadOnly bool
	// Writes says that the call changes the repository. No agent that only reads may have
	// the tool.
	Writes bool
	// Reads says the same of single calls of a tool that is not ReadOnly. Nil: of none.
	// The arguments fit the schema.
	Reads func(args json.RawMessage) bool
	// Lasting says that the main argument of its calls is kept when the turns that they
	// belong to leave the context: a note, a decision.
	Lasting bool
	// Brief says that a call that changes something takes no time to speak of:
	// several in a row are recorded together, and all done again when a crash
	// comes before that.
	Brief bool
	// Amend turns well-known other forms of the arguments into those of the schema,
	// before they are checked. Nil: there are none.
	Amend func(args json.RawMessage) json.RawMessage
	// Finishes says that the call hands the work in. It is refused, once, while the
	// president has said something that the agent has not read, or has not acted upon.
	Finishes bool
	// Run does it. The arguments fit the schema. A call that cannot be done is
	// a Result with IsError; an error means that what the tools stand on is
	// broken, and ends the run. Read-only tools are called concurrently.
	Run func(ctx context.Context, args json.RawMessage) (Result, error)
}

// Result is what a tool answers.
type Result struct {
	Text    string
	IsError bool
	// Failure says briefly, for people, how the command that the tool ran
	// failed ("exit code 1"); the tool itself did its work. "" where it did not
	// fail.
	Failure string
	// Blob is the whole output where Text is only a part of it. It is kept
	// beside the journal and never shown to the model.
	Blob []byte
	// Changed says that the workspace is not what it was.
	Changed bool
	// Seen, when not nil, is the content of a file that the agent knows now.
	Seen *Seen
	// FirstLine is the number of the file's line that Text begins with, where Text is lines
	// of a file; 0: it is not. Of such a text that the model has before it in an older
	// form it is shown what changed.
	FirstLine int
	// Final, when not nil, ends the conversation and becomes Outcome.Final (as
	// JSON). An Escalation ends it as EndEscalated.
	Final any
	// NoLoop exempts the call from the detection of repeated calls: polling a
	// process is no loop.
	NoLoop bool
	// Keep protects the result from being cleared when the context runs full: a
	// to-do list, not a file.
	Keep bool
}

// Escalation is the Final of an agent that gives up and says why.
type Escalation struct {
	Reason string `json:"reason"`
}

// Journal is the run's own log. Append is durable when it returns, with all that came
// before.
type Journal interface {
	JournalReader
	JournalAppender
	// AppendLater adds a record that is stored with the next one, by Flush, or with the end
	// of the journal. A process that dies before loses it.
	AppendLater(ctx context.Context, kind string, data any) error
	Flush(ctx context.Context) error
}

// JournalReader gives every record of a run in order, also those of other writers, which
// are passed over.
type JournalReader interface {
	Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error
}

// JournalAppender stores a record behind the last one and returns its number.
type JournalAppender interface {
	Append(ctx context.Context, kind string, data any) (int, error)
}

// Blobs keeps values that are too large for a journal record.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (company.Hash, error)
	GetBlob(ctx context.Context, hash company.Hash) ([]byte, error)
}

// End is how a conversation ended.
type End string

const (
	EndFinal     End = "final"     // a tool ended it: Outcome.Final, Outcome.FinalTool
	EndEscalated End = "escalated" // the agent gave up: Outcome.Final is an Escalation
	EndTurns     End = "turns"     // out of turns
	EndFull      End = "full"      // it does not fit into the model's context any more; only with a Workspace
	EndStuck     End = "stuck"     // the same calls with the same results
	EndNoTools   End = "no_tools"  // replies in a row without a tool call
)

// Outcome is what a conversation came to. Drive returns it beside an error too:
// then End is empty, and the rest tells how far it came.
type Outcome struct {
	End       End
	Final     json.RawMessage // the same bytes whether or not the run was resumed
	FinalTool string
	Turns     int // model replies that counted
	Usage     adapters.Usage
	Spent     company.Amount       // a call whose reply is not known counts as its worst case
	Resumed   bool                 // an earlier process had begun this conversation
	Heard     int                  // messages of the president that the agent has read
	ByModel   []company.ModelSpent // of Spent, what has a model
	// WroteCalls says that the newest replies called no tool, and that their text seems to
	// hold calls, which is not read.
	WroteCalls bool
	// Messages is the conversation with every tool result in full.
	Messages   []adapters.Message
	Transcript Transcript
}

// Decode reads Final into v.
func (o Outcome) Decode(v any) error { return json.Unmarshal(o.Final, v) }

// EventKind names an Event.
type EventKind string

const (
	Resumed     EventKind = "resumed"      // the journal held a conversation that had begun
	TurnStarted EventKind = "turn_started" // the model is being asked
	Waiting     EventKind = "waiting"      // the model is asked again after a wait: Wait, Asked, Text
	Switched    EventKind = "switched"     // another model is asked, or in another way: Text
	Replied     EventKind = "replied"      // Text, Usage
	ToolStarted EventKind = "tool_started" // Tool, CallID, Args: the call runs from now on
	ToolDone    EventKind = "tool_done"    // Tool, CallID, Args, Text, IsError, Failure, Changed, Duration
	ToolRedone  EventKind = "tool_redone"  // the same, of a call that was done again after an interruption
	Noted       EventKind = "noted"        // the company added a note for the model: Text
	Masked      EventKind = "masked"       // old tool results were cleared from the context
	Condensed   EventKind = "condensed"    // old turns were left out of the context
	CutOff      EventKind = "cut_off"      // a request was cut with its run, before a byte came: Text
)

// Event is one step that people may want to see while it happens. All text is
// cleaned and bounded to a few hundred bytes.
type Event struct {
	Kind     EventKind
	Time     time.Time
	Turn     int // from 1
	Tool     string
	CallID   string
	Args     string
	Text     string
	IsError  bool
	Failure  string // as of the Result
	Changed  bool
	Duration time.Duration // of a tool call or a reply
	Usage    adapters.Usage
	Spent    company.Amount // by the run so far, without a call that is under way
	Wait     time.Duration
	Asked    bool // the model's server named the wait
}
