package agent

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"company/internal/adapters"
	"company/internal/budget"
	"company/internal/company"
	"company/internal/marks"
)

// Driver has an agent do a job, to its end. It is the seam between a run and
// the program that the agent is. Loop, the only one so far, is this program's
// own conversation with a model. A driver of another program (a command-line
// agent in the run's sandbox) keeps the same promises: every request is drawn
// from the allowance and journaled with its worst case before it goes out, a job
// whose journal has begun goes on there, and nothing is asked after ctx ended.
type Driver interface {
	// Drive returns how the job ended. An error is a broken runtime, a model
	// that cannot be used, or the cause with which ctx was cancelled; the
	// Outcome beside it tells how far the agent came.
	Drive(ctx context.Context, j Job) (Outcome, error)
}

// Job is what an agent is to do, and what its run lends it. Tools and Journal
// are needed.
type Job struct {
	Tools  []Tool
	System string
	// First is the first user message. It starts with the header lines that
	// name role, ticket and run. A resumed run goes on with the System and
	// First that its journal holds.
	First string
	// Seen are the contents of files that First shows: the agent knows them from there, in
	// the hands of every holder of the run.
	Seen []Seen
	// Shown are answers of tools that First has. The same call is answered by what changed
	// since.
	Shown []Shown
	// Images are those that First shows, which Blobs has.
	Images   []company.Attachment
	MaxTurns int // 0: DefaultTurns
	Run      company.RunID
	Agent    string // the speaker in the transcript; empty: the run's id

	Journal Journal
	// Blobs takes the results that are too long for a record.
	// Nil: everything is inline.
	Blobs Blobs
	// Allowance is what each request reserves from. A resumed
	// run's allowance starts with what Spent reads from its journal. Nil: no
	// cap.
	Allowance *budget.Allowance

	// Now stamps records and events.
	// Nil: time.Now.
	Now func() time.Time
	// Logger receives the notes of the run.
	// Nil: there are none.
	Logger *slog.Logger
	// OnEvent receives each event, for the feed. Calls do not overlap, and the
	// text in them is safe to show.
	OnEvent func(Event)
	// OnOutput receives what calls under way print, and their ends. Calls of it may overlap.
	// Nil: the tools are not asked for it.
	OnOutput func(LiveOutput)
	// Marks are told which call and reply the process handles.
	// Nil: no marks are kept.
	Marks *marks.Book
	// Halt, when it gives an error, ends the conversation before the model is
	// asked again: between two turns. Nil: it goes on.
	Halt func() error
	// Words returns the president's messages to the run so far, in order. It is called
	// before each turn, and the agent reads each message once. Nil: there are none.
	Words func() []string
	// Clearing returns what leaves the context next, by how often something has left it so
	// far, or nothing before the next request. measure has the loop measure for itself.
	// Nil: it always does.
	Clearing func(done int) (c *Clearing, measure bool)
	// Workspace is what the tools change. Nil: nothing of it outlives this
	// process, and calls that changed something are all done again.
	Workspace Workspace
}

// ModelOpener opens the model that a conversation asks. meter belongs around
// each bare model, inside retries and fallbacks, because each attempt can cost
// and each model has its own price.
type ModelOpener interface {
	OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error)
}

// Loop is the Driver that asks a model and carries out the calls of its
// replies, turn by turn.
type Loop struct {
	Models ModelOpener
	// Model names the model, as the run's task is bound to it. The journal keeps it, and a journal
	// that names another one is refused.
	Model company.BriefModel
	// NudgeAfter and StuckAfter are how often the same call with the same
	// result (or the same cycle of up to five calls) is seen before the model
	// is warned, and before the run ends. 0: 3 and 5.
	NudgeAfter, StuckAfter int
}

var _ Driver = Loop{}

// loopDriver is the name of Loop in journals.
const loopDriver = "loop"

// config is one job of a Loop.
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
		c.Allowance = budget.NewAllowance(company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}, company.Amount{}, nil)
	}
	if c.NudgeAfter <= 0 {
		c.NudgeAfter = 3
	}
	if c.StuckAfter <= 0 {
		c.StuckAfter = 5
	}
	return c
}
