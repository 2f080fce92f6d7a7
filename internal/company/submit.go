package company

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Submit submits the president's instruction (SUB-1).
type Submit struct {
	Instruction string
	Project     Project
	Settings    Settings
	DryRun      bool
	Base        string
	Follows     TaskID
	// After lists the tasks that must be merged before this one begins. Empty means that it begins at once.
	After    []TaskID  `json:",omitempty"`
	Priority Priority  // empty means that of the followed task, or medium
	Tags     []string  // empty means those of the followed task
	Deadline time.Time `json:",omitzero"` // zero means that of the followed task, or none
	// Issue is the issue that the instruction quotes, or nil.
	Issue *IssueRef `json:",omitempty"`
	// Attachments are files that belong to the instruction.
	Attachments []AttachedFile `json:",omitempty"`
	// NumberAfter is the highest task number that a branch of this office has at the remote. The task gets a higher one.
	// Zero means that there is no such branch, or that the remote was not asked.
	NumberAfter int `json:",omitempty"`
}

// MaxNumberAfter limits the task numbers that branches of the remote may reserve. Anyone with push access can name a
// branch as they like, and ids have only nine digits.
const MaxNumberAfter = 999_999

// MaxInstruction limits an instruction, in bytes.
const MaxInstruction = 256 << 10

// Validate decides the submission in an empty office, so that an invalid submission leaves no trace. It does not check
// whether the tasks exist that it names: only the real office has them. It returns the error of the decision.
func (c Submit) Validate(now time.Time) error {
	if err := c.validateAfter(); err != nil {
		return err
	}
	state := NewState()
	state.Office.Epoch = 1
	c.Follows, c.After = "", nil
	_, err := Decide(state, Meta{ID: "trial", Actor: President, Now: now}, c)
	return err
}

func (c Submit) decide(state *State, meta Meta) ([]Event, error) {
	if meta.ID == "" {
		return nil, E(EInvalid, "a submission needs a command id")
	}
	if _, ok := state.Commands[meta.ID]; ok {
		return nil, nil
	}
	switch {
	case strings.TrimSpace(c.Instruction) == "":
		return nil, E(EInvalid, "the instruction is empty").
			Fix(`say what is to be done: company submit "add rate limiting to the API"`)
	case len(c.Instruction) > MaxInstruction:
		return nil, E(EInvalid, "the instruction is longer than 256 KiB").
			Fix("put the material into a file of the repository and name it in the instruction")
	case !utf8.ValidString(c.Instruction) || strings.ContainsRune(c.Instruction, 0):
		return nil, E(EInvalid, "the instruction is not text").Because("it holds bytes that are not UTF-8").
			Fix("save it as UTF-8, or: iconv -f ENCODING -t UTF-8 FILE | company submit -")
	case c.Project.ID == "" || c.Project.Path == "":
		return nil, E(EInvalid, "no project given").Fix("run company inside a git repository, or use --repo")
	case state.Office.Stopped:
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	case c.NumberAfter < 0 || c.NumberAfter > MaxNumberAfter:
		return nil,
			E(EInvalid, fmt.Sprintf("invalid task number %d: it must be between 0 and %d", c.NumberAfter, MaxNumberAfter)).
				Fix("leave it out")
	case c.DryRun && c.Settings.Way == WayOne:
		return nil, E(EInvalid, "a dry run shows a plan, but --one makes none").Fix("leave one of them out")
	case c.Settings.Way == WayOne && c.Settings.Granularity.withDefaults().isLarger(aloneEffort):
		return nil, E(EInvalid, "--one counts as medium effort, but plan.max_effort is small").
			Fix("leave --one (plan.way: one) out, or add --set plan.max_effort=medium")
	case !c.Settings.Cap.isValidCap():
		return nil, E(EInvalid, "invalid budget").Fix("budget.usd: 5, or none")
	}
	if err := c.Settings.Agents.validate(); err != nil {
		return nil, err
	}
	if err := c.Project.validateRemote(); err != nil {
		return nil, err
	}
	if err := c.Issue.validate(); err != nil {
		return nil, err
	}
	if err := validateAttachments(c.Attachments); err != nil {
		return nil, err
	}
	if err := refuseProtectedBranch(c.Settings.WithDefaults().IntegrationPrefix); err != nil {
		return nil, err
	}
	if err := c.validateAfter(); err != nil {
		return nil, err
	}
	if c.Follows != "" {
		lead, err := state.followUpTarget(c.Follows)
		switch {
		case err != nil:
			return nil, err
		case lead.Project.ID != c.Project.ID:
			return nil, E(EInvalid, string(c.Follows)+" belongs to another project").
				Fix("run company inside " + lead.Project.Path)
		case c.Base != "":
			return nil, E(EInvalid, "a follow-up starts from its pull request").Fix("leave --base out")
		}
	}
	if err := state.checkAfter(c.After); err != nil {
		return nil, err
	}
	base := c.Base
	if lead := state.Tasks[c.Follows]; lead != nil {
		base = lead.baseName()
	}
	if err := state.checkExclusive(c.Project.ID, base, c.Settings.Exclusive); err != nil {
		return nil, err
	}
	if err := c.validateUrgency(meta.Now); err != nil {
		return nil, err
	}
	c = c.inheritUrgency(state.Tasks[c.Follows])
	id, skippedFrom := NewTaskID(state.LastTask+1), 0
	if c.NumberAfter > state.LastTask {
		id, skippedFrom = NewTaskID(c.NumberAfter+1), state.LastTask+1
	}
	return []Event{meta.newEvent(id, "", "", &TaskSubmitted{
		Instruction: c.Instruction, Project: c.Project, Settings: c.Settings.WithDefaults(), DryRun: c.DryRun,
		Base: c.Base, Follows: c.Follows, After: withoutRepeats(c.After), Priority: c.Priority, Tags: withoutRepeats(c.Tags),
		Deadline: c.Deadline.UTC().Truncate(time.Second), Issue: c.Issue,
		Attachments: attachmentsOf(c.Attachments), SkippedFrom: skippedFrom,
	})}, nil
}

// SubmittedBy returns the task that an actor's command created, now or the first time that it was sent. It returns ""
// if there is none.
func (s *State) SubmittedBy(actor, id string) TaskID { return s.Commands[CommandID(actor, id)] }

// TaskSubmitted creates a task.
type TaskSubmitted struct {
	Instruction string   `json:"instruction"`
	Project     Project  `json:"project"`
	Settings    Settings `json:"settings"`
	DryRun      bool     `json:"dry_run,omitempty"`
	Base        string   `json:"base,omitempty"`
	Follows     TaskID   `json:"follows,omitempty"`
	// After lists tasks that must be merged before this one begins.
	After    []TaskID `json:"after,omitempty"`
	Priority Priority `json:"priority"`
	Tags     []string `json:"tags,omitempty"`
	// Deadline does not cancel the task.
	Deadline time.Time `json:"deadline,omitzero"`
	// Issue is the issue that the instruction quotes.
	Issue *IssueRef `json:"issue,omitempty"`
	// Attachments are the files that belong to the instruction.
	Attachments []Attachment `json:"attachments,omitempty"`
	// SkippedFrom is the first number that was skipped before this task's number, because branches of this office at the
	// remote use it. Zero means that none was skipped.
	SkippedFrom int `json:"skipped_from,omitempty"`
}

var _ = registerKind[TaskSubmitted]()

// Attaches reports whether a blob is an attached file of the instruction.
func (d *TaskSubmitted) Attaches(blob Hash) bool {
	return slices.ContainsFunc(d.Attachments, func(a Attachment) bool { return a.Blob == blob })
}

func (*TaskSubmitted) Kind() string { return "task.submitted" }
func (d *TaskSubmitted) apply(state *State, event Event) {
	state.LastTask++
	if d.SkippedFrom > 0 {
		state.LastTask = event.Task.Number()
		state.SkippedTasks += state.LastTask - d.SkippedFrom
	}
	state.setTask(&Task{
		ID: event.Task, Instruction: d.Instruction, Project: d.Project, Settings: d.Settings, DryRun: d.DryRun,
		Base: d.Base, Follows: d.Follows, After: d.After, Priority: d.Priority, Tags: d.Tags, Deadline: d.Deadline,
		Issue: d.Issue, Attachments: d.Attachments,
		Submitted: event.Time, Updated: event.Time, Status: StatusPending, Cap: d.Settings.Cap,
	})
	state.Open = append(state.Open, event.Task)
	state.noteCommand(event.Cause, event.Task)
	state.restoreProject(d.Project.ID)
}
