// Package agent implements the tool-calling conversation of every role. A model requests tools, and the tools
// answer, until one of them ends the conversation.
//
// It owns the order of the conversation and its limits (turns, context, output). It also owns the checks on a
// model's replies, the detection of repeated calls, and the transcript. It promises that
//
//   - Every message is journaled before it enters the conversation, and the
//     conversation is folded from the journal. A run that is started again over
//     its journal continues where it was. A journaled reply is never requested
//     again, so a crash repeats at most one model call. A result that changed
//     the workspace is journaled with the state that holds the change, or its
//     call is repeated. A call without a result is repeated on the state before.
//   - No model call is made after the context ended, without an allowance for
//     it, or without its worst case in the journal.
//   - Any output of a model (no text, half a reply, broken JSON, unknown tools,
//     the same call for ever) leads to a tool error that it can repair, to an
//     End, or to an error. It never leads to a panic or an endless run.
//
// It does not know the effect of the tools, where they run, or the meaning of a finished run. Completion is
// decided elsewhere, from facts.
package agent

import (
	"context"
	"encoding/json"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// Fixed limits, which no configuration changes.
const (
	DefaultTurns   = 30        // model replies of one run
	ProgramTurns   = 100       // of a run whose agent is another program, which makes smaller steps
	AssumedContext = 128_000   // tokens, for a model whose context size is not known
	MaxResult      = 64 << 10  // bytes of one tool result that are shown to the model
	MaxOutput      = 10 << 20  // bytes of tool results that are shown in one run
	MaxWhole       = 64 << 20  // bytes of complete outputs that are stored in addition
	MaxWritten     = 64 << 20  // bytes of replies in one run, which are all kept in memory
	MaxCalls       = 32        // tool calls of one reply
	MaxArguments   = 1 << 20   // bytes of one call's arguments
	maxContent     = 256 << 10 // bytes of a reply's text that are sent back to the model; the journal has all
	maxOpaque      = 1 << 20   // bytes of a reply's thinking, which is sent back with each request
	maxParallel    = 8
)

// Tool is one function that the model can call.
type Tool struct {
	Spec adapters.Tool
	// Unsent lists properties of the schema that are not sent to models: other forms of the arguments, which are
	// still accepted.
	Unsent []string
	// Hidden keeps the tool out of requests: an older name for another tool, which is still accepted.
	Hidden bool
	// ReadOnly marks a tool that changes nothing. Its calls may run beside other read-only calls of the same reply,
	// and again after a crash.
	ReadOnly bool
	// Writes marks a tool that changes the repository. No agent that only reads may have it.
	Writes bool
	// StoresText marks a tool that may store its arguments in a file. It gets no masks of secrets.
	StoresText bool
	// Reads reports whether a single call of a tool that is not ReadOnly changes nothing. The arguments fit the
	// schema. A nil Reads means that every call may change something.
	Reads func(args json.RawMessage) bool
	// Lasting keeps the main argument of each call when the call's turn leaves the context: a note, a decision.
	Lasting bool
	// Brief marks a tool whose changes take almost no time. Several calls in a row are recorded together. A crash
	// before the record repeats all of them.
	Brief bool
	// Amend converts well-known other forms of the arguments into the form of the schema, before they are checked.
	// It may be nil.
	Amend func(args json.RawMessage) json.RawMessage
	// Finishes marks the tool that submits the work. Its call is refused once while the agent has not read, or not
	// acted upon, a message of the president.
	Finishes bool
	// Run executes a call whose arguments fit the schema. A call that cannot be done returns a Result with IsError.
	// An error means that the tools' own runtime is broken, and ends the run. Read-only tools are called
	// concurrently.
	Run func(ctx context.Context, args json.RawMessage) (Result, error)
}

// Result is the answer of a tool call.
type Result struct {
	Text    string
	IsError bool
	// Failure describes briefly, for people, how the command that the tool ran failed ("exit code 1"). The tool
	// itself did its work. It is empty if the command did not fail.
	Failure string
	// Blob holds the whole output if Text is only a part of it. It is kept beside the journal and never shown to
	// the model.
	Blob []byte
	// Changed reports that the call changed the workspace.
	Changed bool
	// Seen, when not nil, identifies the content of a file that the agent knows now.
	Seen *Seen
	// FirstLine is the file's line number of the first line of Text, or 0 if Text is not lines of a file. If the
	// model already has an older form of such a text, it is shown only the changes.
	FirstLine int
	// Final, when not nil, ends the conversation and becomes Outcome.Final (as
	// JSON). An Escalation ends it as EndEscalated.
	Final any
	// NoLoop exempts the call from the detection of repeated calls, for example while a process is polled.
	NoLoop bool
	// Keep protects the result from being cleared when the context is full: a to-do list, not a file.
	Keep bool
}

// Escalation is the Final of an agent that gives up and says why.
type Escalation struct {
	Reason string `json:"reason"`
}

// Journal is the run's own log. When Append returns, its record and all earlier ones are durable.
type Journal interface {
	JournalReader
	// Append stores a record after the last one and returns its number.
	Append(ctx context.Context, kind string, data any) (int, error)
	// AppendLater adds a record that is stored with the next one, by Flush, or at the end of the journal. It is
	// lost if the process dies before that.
	AppendLater(ctx context.Context, kind string, data any) error
	Flush(ctx context.Context) error
}

// JournalReader reads every record of a run in order. Records of other writers are included, and the agent skips
// them.
type JournalReader interface {
	Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error
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
	EndFull      End = "full"      // the model's context is full; only with a Workspace
	EndStuck     End = "stuck"     // repeated calls with the same results
	EndNoTools   End = "no_tools"  // replies in a row without a tool call
)

// Outcome describes how a conversation ended. Drive returns it beside an error too: End is then empty, and the
// other fields describe the progress so far.
type Outcome struct {
	End       End
	Final     json.RawMessage // the same bytes whether or not the run was resumed
	FinalTool string
	Turns     int // model replies that counted
	Usage     adapters.Usage
	Spent     company.Amount       // a call without a known reply counts as its worst case
	Resumed   bool                 // an earlier process had begun this conversation
	Heard     int                  // messages of the president that the agent has read
	ByModel   []company.ModelSpent // the part of Spent that belongs to a model
	// WroteCalls reports that the newest replies called no tool, but their text seems to contain calls. Text is not
	// read for calls.
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
	Waiting     EventKind = "waiting"      // the model is asked again after a wait: Wait, Longest, Asked, Text
	Switched    EventKind = "switched"     // another model is asked, or the same one in another way: Text
	Replied     EventKind = "replied"      // Text, Usage
	ToolStarted EventKind = "tool_started" // Tool, CallID, Args: the call starts to run
	ToolDone    EventKind = "tool_done"    // Tool, CallID, Args, Text, IsError, Failure, Changed, Duration
	ToolRedone  EventKind = "tool_redone"  // as ToolDone, for a call that was repeated after an interruption
	Noted       EventKind = "noted"        // the company added a note for the model: Text
	Masked      EventKind = "masked"       // old tool results were cleared from the context
	Condensed   EventKind = "condensed"    // old turns were left out of the context
	Printed     EventKind = "printed"      // another program that is the agent said something: Text is the last line
	CutOff      EventKind = "cut_off"      // a request was cut with its run, before a byte came: Text
)

// Event is a step of a run that people can follow live. All text is escaped and limited to a few hundred bytes.
type Event struct {
	Kind     EventKind
	Time     time.Time
	Turn     int // from 1
	Tool     string
	CallID   string
	Args     string
	Text     string
	IsError  bool
	Failure  string // as in Result
	Changed  bool
	Duration time.Duration // of a tool call or a reply
	Usage    adapters.Usage
	Spent    company.Amount // by the run so far, without the current call
	Wait     time.Duration
	Longest  time.Duration // limit of all such waits for this reply
	Asked    bool          // the model's server named the wait
}
