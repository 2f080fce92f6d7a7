package agent

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"company/internal/adapters"
	"company/internal/agent/budget"
	"company/internal/company"
)

// Driver runs an agent's job to its end. It separates a run from the program of the agent. Loop is this
// program's own conversation with a model. A driver of another program (a command-line agent in
// the run's sandbox) gives the same guarantees. Every request is drawn from the allowance and journaled with its
// worst case before it is sent. A job with a started journal continues there. No request is made after ctx
// ended.
type Driver interface {
	// Drive returns how the job ended. An error means a broken runtime, an unusable model, or the cause with which
	// ctx was cancelled. The Outcome beside it describes the progress so far.
	Drive(ctx context.Context, j Job) (Outcome, error)
}

// Job describes the task of an agent and the resources of its run. Tools and Journal are required.
type Job struct {
	Tools  []Tool
	System string
	// First is the first user message. It starts with header lines for role, ticket and run. A resumed run uses the
	// System and First of its journal instead.
	First string
	// Seen identifies the contents of files that First shows. The agent knows them in every process that holds the
	// run.
	Seen []Seen
	// Shown lists answers of tools that First contains. A repeated call is answered with the changes since then.
	Shown []Shown
	// Images are the images that First shows. Blobs holds their data.
	Images   []company.Attachment
	MaxTurns int // 0 means DefaultTurns
	Run      company.RunID
	Agent    string // the speaker in the transcript, by default the run's id

	Journal Journal
	// Blobs stores results that are too long for a record. If it is nil, all results are stored in records.
	Blobs Blobs
	// Allowance grants the cost of each request. For a resumed run it starts with the Spent of its journal. A nil
	// Allowance means no limit.
	Allowance *budget.Allowance

	// Now returns the time for records and events. A nil Now means time.Now.
	Now func() time.Time
	// Logger receives log messages of the run. A nil Logger discards them.
	Logger *slog.Logger
	// Redact replaces secrets in a text. Results of tools are stored and sent to the model as it returns them. A nil
	// Redact changes nothing.
	Redact func(string) string
	// OnEvent receives each event, for the feed. Calls do not overlap, and the
	// text in them is safe to show.
	OnEvent func(Event)
	// OnOutput receives the output of running calls and their ends. Its calls may overlap. If it is nil, the tools
	// are not asked for output.
	OnOutput func(LiveOutput)
	// Halt is called between two turns. An error ends the conversation before the model is asked again. It may be
	// nil.
	Halt func() error
	// Words returns the president's messages to the run so far, in order. It is called before each turn, and the
	// agent reads each message once. A nil Words means that there are no messages.
	Words func() []string
	// Clearing returns the next removal from the context, or nil if none comes before the next request. done is the
	// number of removals so far. If measure is true, the loop decides by its own measurement. A nil Clearing means
	// that it always does.
	Clearing func(done int) (c *Clearing, measure bool)
	// Program is set for a worker in a sandbox. A driver that runs another program needs it.
	Program *Program
	// Workspace saves the files that the tools change. If it is nil, changes do not outlive this process, and all
	// calls that changed something are repeated.
	Workspace Workspace
}

// ModelOpener opens the model of a conversation. meter must wrap each bare model, inside retries and fallbacks,
// because each attempt can cost and each model has its own price.
type ModelOpener interface {
	OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error)
}

// Loop is the Driver that asks a model and executes the calls of its replies, turn by turn.
type Loop struct {
	Models ModelOpener
	// Model identifies the model that the run's task is bound to. It is stored in the journal. A journal with
	// another model is refused.
	Model company.BriefModel
	// NudgeAfter and StuckAfter count repetitions of the same call with the same result, or of the same cycle of up
	// to five calls. After NudgeAfter the model is warned, after StuckAfter the run ends. 0 means 3 and 5.
	NudgeAfter, StuckAfter int
}

var _ Driver = Loop{}

// loopDriver is the name of Loop in journals.
const loopDriver = "loop"

// config holds one job of a Loop.
type config struct {
	Job
	Loop
	model adapters.Model // metered
}

func (c config) withDefaults() config {
	if c.MaxTurns <= 0 {
		c.MaxTurns = DefaultTurns
	}
	c.Agent = cmp.Or(c.Agent, string(c.Run))
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	if c.OnEvent == nil {
		c.OnEvent = func(Event) {}
	}
	if c.Halt == nil {
		c.Halt = func() error { return nil }
	}
	if c.Words == nil {
		c.Words = func() []string { return nil }
	}
	if c.Allowance == nil {
		c.Allowance = budget.NewAllowance(
			company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}, company.Amount{}, nil)
	}
	if c.NudgeAfter <= 0 {
		c.NudgeAfter = 3
	}
	if c.StuckAfter <= 0 {
		c.StuckAfter = 5
	}
	return c
}
