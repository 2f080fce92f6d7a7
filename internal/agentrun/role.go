package agentrun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun/depaccess"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/ledger"
)

// Role is the part of a run that differs between manager, worker, reviewer and merger. A value serves one
// session.
type Role interface {
	// Prepare reads the inputs of the run. It returns the sandbox to work in: the start of the work and its visible
	// and writable parts, while the session sets the rest. It returns nil if the agent needs no sandbox.
	Prepare(ctx context.Context, s *Session) (*sandbox.Spec, error)
	// Brief returns the prompt and the tools of the agent. The sandbox is open by then.
	Brief(ctx context.Context, s *Session) (Brief, error)
	// Finish turns the outcome of the agent's work into the end of the run. failed is the error that ended the
	// work. A role that can save no work returns failed.
	Finish(ctx context.Context, s *Session, out agent.Outcome, failed error) (company.EndRun, error)
}

// Brief is the prompt and the tools of an agent.
type Brief struct {
	System string
	Title  string
	Text   string       // the first message below its header
	Seen   []agent.Seen // file contents that Text shows
	// Shown lists the answers of tools that Text shows.
	Shown []agent.Shown
	Tools []agent.Tool // in addition to those of the sandbox
	// Second gives the run to the second reviewer, if the task is bound to one.
	Second bool
	// MaxTurns limits the replies of the run below the limit of its role. 0 means only the limit of the role.
	MaxTurns int
}

// runRole executes the claimed run in the frame that all roles share.
func (s *Session) runRole(ctx context.Context, role Role) (company.EndRun, error) {
	var err error
	if s.Mirror, err = s.service.Mirrors.MirrorOf(ctx, s.Task); err != nil {
		return company.EndRun{}, err
	}
	spec, err := role.Prepare(ctx, s)
	if err != nil {
		return company.EndRun{}, err
	}
	if spec == nil {
		return s.holdConversation(ctx, role)
	}
	return s.workInSandbox(ctx, role, *spec)
}

// workInSandbox opens the sandbox that a role asks for, with its log and dependencies, while the agent works.
func (s *Session) workInSandbox(ctx context.Context, role Role, spec sandbox.Spec) (company.EndRun, error) {
	var err error
	spec.Mirror = s.Mirror
	spec.Run = s.Run
	spec.Role = s.Role
	spec.Fence = s.Fence
	spec.Past = s.past
	spec.Epoch = s.Epoch
	spec.Paths, spec.Commands = s.Task.Settings.Paths, s.Task.Settings.Commands
	if spec.Attached, err = s.loadAttached(ctx); err != nil {
		return company.EndRun{}, err
	}
	image := gates.ImageByID(s.Task.Prepared.Image)
	spec.Need.Memory, spec.Need.Disk = s.Task.Baseline.Needs()
	if spec.Log, err = sandbox.OpenLog(s.service.Runs, s.Run, s.service.Watcher.WatchFile); err != nil {
		return company.EndRun{}, err
	}
	defer spec.Log.Close()
	if !spec.ReadOnly {
		spec.Dependencies, err = s.service.Dependencies.Open(ctx, depaccess.Order{
			Task: s.Task, Run: s.Run, Fence: s.Fence, Mirror: s.Mirror, Base: sandbox.Mirrors(), Waits: s.Waits,
			Record: s.journal.Append,
		})
		if err != nil {
			return company.EndRun{}, err
		}
		defer spec.Dependencies.Close(ctx)
	}
	if s.service.Images != nil {
		// A tree whose dependencies are refused uses the task's own image.
		if image, _, err = s.service.Images.ImageForTree(ctx, s.Task, s.Mirror, spec.Start); err != nil {
			return company.EndRun{}, err
		}
	}
	spec.Image, spec.ImageKey = image.ID, image.Key
	if s.Sandbox, err = s.service.Sandboxes.Open(ctx, spec); err != nil {
		return company.EndRun{}, err
	}
	defer s.Sandbox.Close(ctx)
	return s.holdConversation(ctx, role)
}

// holdConversation runs the agent's job.
func (s *Session) holdConversation(ctx context.Context, role Role) (company.EndRun, error) {
	brief, rules, err := s.completeBrief(ctx, role)
	if err != nil {
		return company.EndRun{}, err
	}
	job := agent.Job{
		Tools: brief.Tools, System: brief.System, First: brief.Text, Seen: brief.Seen,
		Shown:    brief.Shown,
		MaxTurns: s.limitTurns(brief.MaxTurns),
		Run:      s.Run, Agent: s.Worker, Journal: journalAdapter{s.journal},
		Blobs: ledger.Blobs{Ledger: s.service.Ledger}, Images: s.attachedImages(), Allowance: s.allowance,
		Now: s.service.Now, Logger: s.service.Logger, Redact: s.service.Secrets.Redact, OnEvent: s.onEvent,
		OnOutput: s.onOutput, Halt: func() error { return s.checkPaused(ctx) },
		Words: func() []string { return s.readWords(ctx) },
	}
	s.briefing = s.describeBriefing(job, rules)
	if s.Sandbox != nil {
		job.Tools, job.Workspace = append(s.Sandbox.AgentTools(), brief.Tools...), s.Sandbox.Workspace()
		if s.Role == company.Worker {
			job.Program = &agent.Program{Place: s.Sandbox.ProgramPlace(), Ticket: s.describeTicket()}
		}
	}
	if err := checkTools(s.Role, job.Tools); err != nil {
		return company.EndRun{}, err
	}
	driver, err := s.service.Agents.Driver(ctx, s.bindings, s.agent.Profile)
	if err != nil {
		return role.Finish(ctx, s, agent.Outcome{}, err)
	}
	out, err := driver.Drive(ctx, job)
	s.turns = out.Turns
	s.heard = out.Heard
	s.byModel = out.ByModel
	if len(out.Messages) > 0 {
		s.keepTranscript(s.service.Secrets.MaskJSON(out.Transcript.Encode()))
	}
	return role.Finish(ctx, s, out, err)
}

// completeBrief returns the whole prompts of the role: with the agent's persona, the header and the attached files. It
// selects the agent. rules is the role's system prompt without the persona.
func (s *Session) completeBrief(ctx context.Context, role Role) (brief Brief, rules string, err error) {
	if brief, err = role.Brief(ctx, s); err != nil {
		return brief, "", err
	}
	s.agent = s.Task.AgentOf(s.Claimed)
	if brief.Second && s.HasSecond() {
		s.agent = s.bindings.SecondReviewer
	}
	attached, more, err := s.showAttached(ctx)
	if err != nil {
		return brief, "", err
	}
	rules = brief.System
	if s.agent.Persona != "" {
		brief.System += "\n\n" + s.agent.Persona
	}
	header := adapters.Header{Role: s.Role, Task: s.Task.ID, Run: s.Run, Title: brief.Title}
	if s.Subtask != nil {
		header.Subtask = s.Subtask.ID
	}
	redact := s.service.Secrets.Redact
	brief.System, brief.Text = redact(brief.System), redact(header.String()+"\n"+brief.Text+attached)
	brief.Shown = slices.Clone(brief.Shown)
	for i := range brief.Shown {
		brief.Shown[i].Text = redact(brief.Shown[i].Text)
	}
	brief.Tools = append(brief.Tools, more...)
	return brief, rules, nil
}

// Preview returns the system prompt and the first message that an agent of an assignment would be sent. It starts
// nothing: Session.Sandbox is nil, and the role leaves out what only its container has.
func Preview(
	ctx context.Context, role Role, assignment company.Assignment, mirror *gitops.Mirror, ledger *ledger.Ledger,
) (system, first string, err error) {
	run := assignment.Claimed
	s := &Session{service: &Service{Config: Config{Ledger: ledger}}, Assignment: assignment, Run: run.ID, Role: run.Role,
		Mirror: mirror, bindings: assignment.Task.BindingsOf(run)}
	if _, err = role.Prepare(ctx, s); err != nil {
		return "", "", err
	}
	brief, _, err := s.completeBrief(ctx, role)
	return brief.System, brief.Text, err
}

// checkTools returns an error if an agent that only reads has a tool that writes (WRK-9).
func checkTools(role company.Role, tools []agent.Tool) error {
	if role != company.Manager && role != company.Reviewer {
		return nil
	}
	if i := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Writes }); i >= 0 {
		return company.E(company.EInternal,
			fmt.Sprintf("a %s was given the writing tool %s", role, tools[i].Spec.Name)).
			Because("managers and reviewers only read").Fix("report it: this is a bug")
	}
	return nil
}

// limitTurns returns the maximum number of replies of the run: the limit of its role, plus turns that the
// manager added to a stuck subtask. A positive bound lowers the limit for a short run.
func (s *Session) limitTurns(bound int) int {
	limit := s.agent.MaxTurns
	if bound > 0 {
		return min(bound, cmp.Or(limit, agent.DefaultTurns))
	}
	if s.Role == company.Worker && s.Subtask != nil && s.Subtask.MoreTurns > 0 {
		usual := agent.DefaultTurns
		if s.IsProgram() {
			usual = agent.ProgramTurns
		}
		limit = cmp.Or(limit, usual) + s.Subtask.MoreTurns
	}
	return limit
}

// describeBriefing describes the start of the conversation. If an earlier holder began the run, it uses the
// prompt from the journal. rules is the role's system prompt without the persona.
func (s *Session) describeBriefing(job agent.Job, rules string) company.Briefing {
	briefing := company.Briefing{Prompt: agent.PromptHash(job.System, job.First), Rules: agent.TextHash(rules),
		Model: s.bindings.Describe(s.agent.Profile)}
	if s.past.Begun {
		briefing.Prompt, briefing.Rules = s.past.Prompt, ""
		if was := s.Claimed.Briefing; was != nil {
			briefing.Rules = was.Rules
		}
	}
	if s.agent.Persona != "" {
		briefing.Persona = agent.TextHash(s.agent.Persona)
	}
	return briefing
}

func (s *Session) onEvent(event agent.Event) {
	s.watch.onEvent(event.Kind)
	if event.Kind == agent.CutOff {
		s.cut = "; " + event.Text
	}
	s.service.Watcher.WatchAgent(s.Run, event)
}

func (s *Session) onOutput(o agent.LiveOutput) { s.service.Watcher.WatchOutput(s.Run, o) }

// Begun reports whether an earlier holder of the run began its conversation. The conversation then continues
// with the first message from the journal.
func (s *Session) Begun() bool { return s.past.Begun }

// HasSecond reports whether the task is bound to a second reviewer.
func (s *Session) HasSecond() bool { return s.bindings.SecondReviewer.Profile != "" }

// ReadCalls reads the tool calls of the run so far from its journal, oldest first. Calls of earlier holders are
// included. Calls without a recorded result are left out.
func (s *Session) ReadCalls(ctx context.Context) ([]agent.TranscriptCall, error) {
	transcript, err := agent.ReadTranscript(
		ctx, s.Run, s.Worker, ledger.Blobs{Ledger: s.service.Ledger},
		func(fn func(kind string, data json.RawMessage) error) error {
			return s.journal.Read(ctx, func(rec ledger.Record) error { return fn(rec.Kind, rec.Data) })
		})
	return transcript.ToolCalls, err
}

// IsProgram reports whether the run's agent is another program.
func (s *Session) IsProgram() bool { return s.bindings.IsProgram(s.Task.AgentOf(s.Claimed).Profile) }

// describeTicket describes the ticket for another program that is the agent.
func (s *Session) describeTicket() agent.ProgramTicket {
	ticket := agent.ProgramTicket{Task: s.Task.ID, Subtask: s.Subtask.ID, Title: s.Subtask.Planned.Title,
		Branch: sandbox.Branch(s.Subtask), BaseBranch: s.Task.Prepared.Base.PRBranch, Remote: s.Task.Project.Remote,
		Commands: s.Task.Settings.Commands, Limit: s.runTimeout()}
	for _, file := range s.Task.Attachments {
		ticket.Attached = append(ticket.Attached, file.Name)
	}
	for n := 1; n < s.Subtask.Started; n++ {
		run := s.Task.Runs[company.NewRunID(s.Task.ID, s.Subtask.ID, company.Worker, n)]
		if run != nil && run.Ended {
			ticket.Earlier = append(ticket.Earlier, agent.EarlierRun{Run: run.ID,
				Success: run.Status == company.RunSuccess, Summary: cmp.Or(run.Error, run.Summary)})
		}
	}
	return ticket
}
