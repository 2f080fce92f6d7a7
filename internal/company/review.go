package company

import "strings"

// Severity of a finding.
type Severity string

const (
	Blocking Severity = "blocking"
	Minor    Severity = "minor"
)

// Levels of a finding, in ascending order. High and critical ones block.
const (
	LevelInfo     = "info"
	LevelLow      = "low"
	LevelMedium   = "medium"
	LevelHigh     = "high"
	LevelCritical = "critical"
)

// Categories of a finding (REV-4).
const (
	CategoryCorrectness = "correctness"
	CategoryEvidence    = "evidence" // a test that is missing or proves no behaviour
	CategoryStyle       = "style"
	CategorySecurity    = "security"
	CategoryPerformance = "performance"
	CategoryOther       = "other"
)

// Finding is one remark of a reviewer.
type Finding struct {
	Severity   Severity `json:"severity"`
	Level      string   `json:"level,omitempty"`    // info | low | medium | high | critical; empty if not given
	Category   string   `json:"category,omitempty"` // empty if not given
	File       string   `json:"file"`
	Line       int      `json:"line"`
	What       string   `json:"what"`
	Why        string   `json:"why"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// Where returns the place of a finding as people write it. It is empty if the finding is about a missing item without a
// place.
func (f Finding) Where() string {
	if f.File != "" && f.Line > 0 {
		return f.File + ":" + itoa(f.Line)
	}
	return f.File
}

// Verdicts of a reviewer.
const (
	Approve        = "approve"
	RequestChanges = "request_changes"
)

// ReviewState is the state of the reviews of a subtask, or of a whole task.
type ReviewState struct {
	Started int             `json:"started,omitempty"`
	Current RunID           `json:"current,omitempty"`
	Rounds  int             `json:"rounds,omitempty"` // rounds of requested changes
	Last    *ReviewRecorded `json:"last,omitempty"`
	Waived  OID             `json:"waived,omitempty"` // the head that a person approved despite the review
	Past    []JudgedFinding `json:"past,omitempty"`   // findings of the reviews before the last one
	// Unconfirmed is a head whose second review ended without a verdict, so the first one stands. Tasks with rules before
	// version 5 set it only for an approved head.
	Unconfirmed OID `json:"unconfirmed,omitempty"`
}

// Allows reports whether this head may proceed.
func (r ReviewState) Allows(head OID) bool {
	return head != "" && (r.Waived == head || r.Last != nil && r.Last.Head == head && r.Last.Verdict == Approve)
}

// ReviewRecorded is one verdict on a head and the diff's patch id. Onto is the integration head at the time of the
// review.
type ReviewRecorded struct {
	Head     OID       `json:"head"`
	Onto     OID       `json:"onto"`
	PatchID  Hash      `json:"patch_id"`
	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings,omitempty"`
	Evidence []string  `json:"evidence,omitempty"` // the reviewer's claimed proof of each acceptance criterion
	// Checked holds, for each entry of Evidence, what the company found in the reviewer's transcript: commands that ran,
	// with their exit codes, and files that were read.
	Checked []string `json:"checked,omitempty"`
	// Whole means that the reviewer of a task's only ticket had the president's instruction, and also checked the diff
	// against it.
	Whole bool `json:"whole,omitempty"`
	// Judged lists the reviewer's verdicts on findings of the previous review.
	Judged []Judgement `json:"judged,omitempty"`
	// Confirms means that this is a second review, which judged findings of the previous one on the same head: the
	// blocking ones, or all. Confirmed findings come first in Findings, in the order of Judged.
	Confirms bool `json:"confirms,omitempty"`
}

var _ = registerKind[ReviewRecorded]()

// blockingFindings returns the findings that block a merge.
func (r ReviewRecorded) blockingFindings() []Finding {
	var out []Finding
	for _, finding := range r.Findings {
		if finding.Severity == Blocking {
			out = append(out, finding)
		}
	}
	return out
}

// maxLine is the highest line that a finding may name. A larger number is not a line, and an event cannot store numbers
// above 2^53.
const maxLine = 1 << 31

// Check refuses an invalid review, in particular a verdict that does not match its findings.
func (r ReviewRecorded) Check() error {
	n := len(r.blockingFindings())
	switch {
	case r.Verdict != Approve && r.Verdict != RequestChanges:
		return E(EInvalid, "invalid verdict: must be approve or request_changes")
	case r.Verdict == Approve && n > 0:
		return E(EInvalid, "cannot approve with blocking findings").Fix("request changes, or make the findings minor")
	case r.Verdict == RequestChanges && n == 0:
		return E(EInvalid, "cannot request changes without a blocking finding").
			Fix("name what is wrong or missing, with file and line where possible; or approve")
	}
	for _, finding := range r.Findings {
		if finding.Severity != Blocking && finding.Severity != Minor {
			return E(EInvalid, "invalid severity of a finding: must be blocking or minor")
		}
		if finding.Line < 0 || finding.Line > maxLine {
			return E(EInvalid, "invalid line of a finding")
		}
		switch {
		case strings.TrimSpace(finding.What) == "":
			return E(EInvalid, "a finding must say what is wrong")
		case finding.Line > 0 && finding.File == "":
			return E(EInvalid, "a finding with a line needs a file")
		case finding.Severity == Blocking && finding.Line == 0 && strings.TrimSpace(finding.Why) == "":
			return E(EInvalid, "a blocking finding without a line must say why: what requires the missing part").
				Fix("name file and line, or say in why which criterion, caller or input requires it")
		}
	}
	return nil
}

func (c EndRun) reviewerSays(meta Meta, task *Task, run *Run) ([]Event, error) {
	sub := task.Subtask(run.Subtask)
	if c.Review == nil && c.Conflict != "" {
		return c.summarizeConflict(meta, task, sub, run), nil
	}
	if c.Review == nil {
		return nil, E(EInvalid, "a reviewer's run must end with a verdict")
	}
	head, last := task.Head, task.Review.Last
	if sub != nil {
		head, last = sub.Head, sub.Review.Last
	}
	said := *c.Review
	said.Judged = said.keepJudgements(last)
	if task.AwaitsSecondReview(sub) {
		var err error
		if said, err = said.ConfirmReview(*last, task.Settings.ConfirmReview); err != nil {
			return nil, err
		}
	}
	if err := said.Check(); err != nil {
		return nil, err
	}
	if sub != nil && sub.Status != SubtaskReviewing {
		return nil, nil
	}
	if said.Head != head {
		return nil, nil // the head has moved, so the verdict is useless and a new run is due
	}
	return []Event{meta.newEvent(task.ID, run.Subtask, run.ID, &said)}, nil
}

func (*ReviewRecorded) Kind() string { return "review.finished" }
func (r *ReviewRecorded) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	if sub == nil {
		task.Review.addReview(r)
	} else {
		sub.Review.addReview(r)
	}
	if task.AwaitsSecondReview(sub) {
		return
	}
	if r.Verdict != Approve {
		task.sendBack(sub)
	} else {
		task.passReview(sub)
	}
}

// passReview adds an approved ticket to the merge queue. A nil sub means the whole task, whose state makes delivery
// due.
func (t *Task) passReview(sub *Subtask) {
	if sub != nil {
		sub.Status = SubtaskMerging
		t.Queue = append(t.Queue, sub.ID)
	}
}

// sendBack orders the blocking findings of the newest review to be fixed. A ticket goes back to its worker. The whole
// task (a nil sub) gets a repair ticket.
func (t *Task) sendBack(sub *Subtask) {
	if sub == nil {
		t.addRepairWave("Address the review of the whole", formatFindings(t.Review.Last.blockingFindings()))
		return
	}
	findings := formatFindings(sub.Review.Last.blockingFindings())
	sub.Review.Rounds++
	if sub.Review.Rounds > t.Settings.ReviewRounds {
		sub.escalateToManager("the reviewer still requests changes: " + firstLine(findings))
		return
	}
	sub.requeue("The reviewer requests changes:\n" + findings)
}

// JudgesWhole reports whether the reviewer of a ticket also checks the president's instruction. That is so if there is
// no other ticket.
func (t *Task) JudgesWhole() bool { return len(t.Subtasks) == 1 }

// approvalCarries reports whether the intended merge produces exactly the tree that the reviewer of the only ticket
// approved. The review must have included the instruction, on the task's base.
func (t *Task) approvalCarries() bool {
	recorded := t.MergeIntent
	if !t.JudgesWhole() || recorded.HeadTree != recorded.Tree || recorded.Onto != t.Prepared.Base.OID {
		return false
	}
	r := t.Subtasks[0].Review.Last
	return r != nil && r.Whole && r.Verdict == Approve && r.Head == recorded.Head && r.Onto == recorded.Onto
}

// ReviewCarried applies the approval of a task's only ticket to the whole task. The merge produced the approved tree,
// and the review included the instruction.
type ReviewCarried struct {
	From OID `json:"from"` // the ticket's approved head
	Head OID `json:"head"` // of the integration branch
}

var _ = registerKind[ReviewCarried]()

func (*ReviewCarried) Kind() string { return "review.carried" }
func (d *ReviewCarried) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	from := task.Subtask(event.Subtask).Review
	recorded := *from.Last
	if from.Unconfirmed == recorded.Head {
		task.Review.Unconfirmed = d.Head
	}
	recorded.Head = d.Head
	task.Review.Last = &recorded
}

// CarriedFrom returns the ticket whose approval applies to the whole task, or nil.
func (t *Task) CarriedFrom() *Subtask {
	if recorded := t.Review.Last; recorded != nil && recorded.Whole {
		for _, sub := range t.Subtasks {
			if sub.Merged == recorded.Head {
				return sub
			}
		}
	}
	return nil
}

func formatFindings(fs []Finding) string {
	var b strings.Builder
	for _, finding := range fs {
		b.WriteString("- ")
		if at := finding.Where(); at != "" {
			b.WriteString(at + ": ")
		}
		b.WriteString(finding.What)
		if finding.Why != "" {
			b.WriteString(" (" + finding.Why + ")")
		}
		if finding.Suggestion != "" {
			b.WriteString(" Suggestion: " + finding.Suggestion)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ReviewVoided withdraws a verdict because the base changed a file of the diff.
type ReviewVoided struct {
	Onto OID `json:"onto"`
}

var _ = registerKind[ReviewVoided]()

func (*ReviewVoided) Kind() string { return "review.voided" }
func (d *ReviewVoided) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	task.removeFromQueue(sub.ID)
	delete(task.Failures, "merge "+string(sub.ID))
	sub.Review.withdrawLast()
	sub.Status = SubtaskInGate
}
