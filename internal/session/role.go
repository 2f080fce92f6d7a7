package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/depaccess"
	"company/internal/gates"
	"company/internal/ledger"
	"company/internal/marks"
	"company/internal/sandbox"
)

// Role is what the run of a manager, a worker, a reviewer or a merger has of
// its own. A value serves one session.
type Role interface {
	// Prepare reads what the run is about. It returns the sandbox to work in
	// (where the work starts, and what may be seen and changed; the rest is the
	// frame's), or nil when the agent needs none.
	Prepare(ctx context.Context, s *Session) (*sandbox.Spec, error)
	// Brief gives the prompt and the tools of the agent. The sandbox stands.
	Brief(ctx context.Context, s *Session) (Brief, error)
	// Finish says what the agent's work makes of the run. failed is the error
	// that the work broke off with; a role that can save nothing of it returns
	// it.
	Finish(ctx context.Context, s *Session, out agent.Outcome, failed error) (company.EndRun, error)
}

// Brief is the prompt and the tools of an agent.
type Brief struct {
	System string
	Title  string
	Text   string       // what the first message says below its header
	Seen   []agent.Seen // contents of files that Text shows
	// Shown are the answers of tools among them.
	Shown []agent.Shown
	Tools []agent.Tool // beside those of the sandbox
	// Second has the second reviewer do it, where the task is bound to one.
	Second bool
	// MaxTurns bounds the replies of the run below the limit of its role; 0: that limit alone.
	MaxTurns int
}

// runRole does the claimed run in the frame that all roles share.
func (s *Session) runRole(ctx context.Context, r Role) (company.EndRun, error) {
	var err error
	if s.Mirror, err = s.service.Mirrors.MirrorOf(ctx, s.Task); err != nil {
		return company.EndRun{}, err
	}
	spec, err := r.Prepare(ctx, s)
	if err != nil {
		return company.EndRun{}, err
	}
	if spec == nil {
		return s.holdConversation(ctx, r)
	}
	return s.workInSandbox(ctx, r, *spec)
}

// workInSandbox opens the sandbox that a role asks for, and all that belongs to
// it, for as long as the agent works.
func (s *Session) workInSandbox(ctx context.Context, r Role, spec sandbox.Spec) (company.EndRun, error) {
	var err error
	spec.Mirror, spec.Run, spec.Role, spec.Fence, spec.Past = s.Mirror, s.Run, s.Role, s.Fence, s.past
	spec.Epoch, spec.Paths = s.Epoch, s.Task.Settings.Paths
	if spec.Attached, err = s.loadAttached(ctx); err != nil {
		return company.EndRun{}, err
	}
	image := gates.ImageByID(s.Task.WorkImage())
	spec.Need.Memory, spec.Need.Disk = s.Task.Baseline.Needs()
	if spec.Log, err = sandbox.OpenLog(s.service.Runs, s.Run, s.service.Watcher.WatchFile); err != nil {
		return company.EndRun{}, err
	}
	defer spec.Log.Close()
	if !spec.ReadOnly {
		spec.Dependencies, err = s.service.Dependencies.Open(ctx, depaccess.Order{
			Task: s.Task, Run: s.Run, Fence: s.Fence, Mirror: s.Mirror, Base: sandbox.Mirrors(), Waits: s.Waits, Record: s.journal.Append,
		})
		if err != nil {
			return company.EndRun{}, err
		}
		defer spec.Dependencies.Close(ctx)
	}
	if s.service.Images != nil {
		// A tree whose dependencies are refused is worked on with the task's own.
		if image, _, err = s.service.Images.ImageForTree(ctx, s.Task, s.Mirror, spec.Start); err != nil {
			return company.EndRun{}, err
		}
	}
	spec.Image, spec.ImageKey = image.ID, image.Key
	if s.Sandbox, err = s.service.Sandboxes.Open(ctx, spec); err != nil {
		return company.EndRun{}, err
	}
	defer s.Sandbox.Close(ctx)
	return s.holdConversation(ctx, r)
}

// holdConversation has the agent do its job.
func (s *Session) holdConversation(ctx context.Context, r Role) (company.EndRun, error) {
	b, err := r.Brief(ctx, s)
	if err != nil {
		return company.EndRun{}, err
	}
	s.agent = s.Task.AgentOf(s.Claimed)
	if b.Second && s.HasSecond() {
		s.agent = s.bindings.SecondReviewer
	}
	attached, more, err := s.showAttached(ctx)
	if err != nil {
		return company.EndRun{}, err
	}
	b.Text, b.Tools = b.Text+attached, append(b.Tools, more...)
	rules := b.System
	if s.agent.Persona != "" {
		b.System += "\n\n" + s.agent.Persona
	}
	header := adapters.Header{Role: s.Role, Task: s.Task.ID, Run: s.Run, Title: b.Title}
	if s.Subtask != nil {
		header.Subtask = s.Subtask.ID
	}
	job := agent.Job{
		Tools: b.Tools, System: b.System, First: header.String() + "\n" + b.Text, Seen: b.Seen, Shown: b.Shown, MaxTurns: s.limitTurns(b.MaxTurns),
		Run: s.Run, Agent: s.Worker, Journal: s.journalFor(marks.Resume), Marks: s.service.Marks, Blobs: ledger.Blobs{Ledger: s.service.Ledger}, Images: s.attachedImages(), Allowance: s.allowance,
		Now: s.service.Now, Logger: s.service.Logger, OnEvent: s.onEvent, OnOutput: s.onOutput, Halt: func() error { return s.checkPaused(ctx) }, Words: func() []string { return s.readWords(ctx) },
	}
	s.briefing = s.describeBriefing(job, rules)
	if s.Sandbox != nil {
		job.Tools, job.Workspace = append(s.Sandbox.AgentTools(), b.Tools...), s.Sandbox.Workspace()
	}
	if err := checkTools(s.Role, job.Tools); err != nil {
		return company.EndRun{}, err
	}
	driver, err := s.service.Agents.Driver(ctx, s.bindings, s.agent.Profile)
	if err != nil {
		return r.Finish(ctx, s, agent.Outcome{}, err)
	}
	out, err := driver.Drive(ctx, job)
	s.turns, s.heard, s.byModel = out.Turns, out.Heard, out.ByModel
	if len(out.Messages) > 0 {
		s.keepTranscript(out.Transcript.Encode())
	}
	return r.Finish(ctx, s, out, err)
}

// checkTools refuses tools that write to an agent that only reads (WRK-9).
func checkTools(role company.Role, tools []agent.Tool) error {
	if role != company.Manager && role != company.Reviewer {
		return nil
	}
	if i := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Writes }); i >= 0 {
		return company.E(company.EInternal, fmt.Sprintf("a %s was given the tool %s, which writes", role, tools[i].Spec.Name)).
			Because("managers and reviewers only read").Fix("report it: this is an error of the program")
	}
	return nil
}

// limitTurns is the most replies of the run: those of its role, and what the manager gave to a
// subtask that was stuck. A bound above 0 holds for a run that is to be short.
func (s *Session) limitTurns(bound int) int {
	most := s.agent.MaxTurns
	if bound > 0 {
		return min(bound, cmp.Or(most, agent.DefaultTurns))
	}
	if s.Role == company.Worker && s.Subtask != nil && s.Subtask.MoreTurns > 0 {
		most = cmp.Or(most, agent.DefaultTurns) + s.Subtask.MoreTurns
	}
	return most
}

// describeBriefing is what the run is begun with, or was by an earlier holder: the
// conversation goes on with the prompt that the journal has. rules is the role's system
// prompt without the persona.
func (s *Session) describeBriefing(job agent.Job, rules string) company.Briefing {
	b := company.Briefing{Prompt: agent.PromptHash(job.System, job.First), Rules: agent.TextHash(rules), Model: s.bindings.Describe(s.agent.Profile)}
	if s.past.Begun {
		b.Prompt, b.Rules = s.past.Prompt, ""
		if was := s.Claimed.Briefing; was != nil {
			b.Rules = was.Rules
		}
	}
	if s.agent.Persona != "" {
		b.Persona = agent.TextHash(s.agent.Persona)
	}
	return b
}

func (s *Session) onEvent(e agent.Event) {
	s.watch.onEvent(e.Kind)
	if e.Kind == agent.CutOff {
		s.cut = "; " + e.Text
	}
	s.service.Watcher.WatchAgent(s.Run, e)
}

func (s *Session) onOutput(o agent.LiveOutput) { s.service.Watcher.WatchOutput(s.Run, o) }

// Begun says whether an earlier holder of the run has begun its conversation, which goes on
// with the first message that the journal has.
func (s *Session) Begun() bool { return s.past.Begun }

// HasSecond reports whether the task is bound to a second reviewer.
func (s *Session) HasSecond() bool { return s.bindings.SecondReviewer.Profile != "" }

// ReadCalls reads the tool calls of the run so far from its journal, those of
// earlier holders too, oldest first. A call whose result is not recorded yet is not
// among them.
func (s *Session) ReadCalls(ctx context.Context) ([]agent.TranscriptCall, error) {
	journal := s.journalFor(marks.ReadCalls)
	t, err := agent.ReadTranscript(ctx, s.Run, s.Worker, ledger.Blobs{Ledger: s.service.Ledger}, func(fn func(kind string, data json.RawMessage) error) error {
		return journal.Read(ctx, func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
	})
	return t.ToolCalls, err
}
