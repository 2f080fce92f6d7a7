package company

import "strings"

// Severity of a finding.
type Severity string

const (
	Blocking Severity = "blocking"
	Minor    Severity = "minor"
)

// Levels of a finding, from the least to the worst. High and critical ones block.
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
	CategoryEvidence    = "evidence" // a test that is missing, or shows nothing
	CategoryStyle       = "style"
	CategorySecurity    = "security"
	CategoryPerformance = "performance"
	CategoryOther       = "other"
)

// Finding is one remark of a reviewer.
type Finding struct {
	Severity   Severity `json:"severity"`
	Level      string   `json:"level,omitempty"`    // info | low | medium | high | critical; empty: the reviewer gave none
	Category   string   `json:"category,omitempty"` // empty: the reviewer gave none
	File       string   `json:"file"`
	Line       int      `json:"line"`
	What       string   `json:"what"`
	Why        string   `json:"why"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// Where is the place of a finding as people write it; empty where something is
// absent and has none.
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
	Rounds  int             `json:"rounds,omitempty"` // of requested changes
	Last    *ReviewRecorded `json:"last,omitempty"`
	Waived  OID             `json:"waived,omitempty"` // the head that a person let pass
	Past    []JudgedFinding `json:"past,omitempty"`   // findings of the reviews before the last one
	// Unconfirmed is a head whose second review ended without a verdict: the first one stands.
	// Tasks of rules before 5 have it of an approved head alone.
	Unconfirmed OID `json:"unconfirmed,omitempty"`
}

// Allows says whether this head may go on.
func (r ReviewState) Allows(head OID) bool {
	return head != "" && (r.Waived == head || r.Last != nil && r.Last.Head == head && r.Last.Verdict == Approve)
}

// ReviewRecorded is one verdict, bound to a head and the diff's patch id. Onto is the
// integration head that it was seen against.
type ReviewRecorded struct {
	Head     OID       `json:"head"`
	Onto     OID       `json:"onto"`
	PatchID  Hash      `json:"patch_id"`
	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings,omitempty"`
	Evidence []string  `json:"evidence,omitempty"` // per acceptance criterion, the proof that the reviewer claims
	// Checked is, for each of Evidence, what the company found of it in the reviewer's
	// transcript: commands that ran, with their exit codes, and files that were read.
	// Reviews of older versions have none.
	Checked []string `json:"checked,omitempty"`
	// Whole says that the reviewer of a task's only ticket had the president's
	// instruction, and judged the diff by that too.
	Whole bool `json:"whole,omitempty"`
	// Judged are the reviewer's verdicts on findings of the review before.
	Judged []Judgement `json:"judged,omitempty"`
	// Confirms says that this review judged findings of the one before on the same head: those
	// that block, or all of them. Findings that it confirmed stand first in Findings, in the order of Judged.
	Confirms bool `json:"confirms,omitempty"`
}

var _ = registerKind[ReviewRecorded]()

// blockingFindings are the findings that bar a merge.
func (r ReviewRecorded) blockingFindings() []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if f.Severity == Blocking {
			out = append(out, f)
		}
	}
	return out
}

// maxLine is the highest line that a finding may name. A larger number is no
// line, and beyond 2^53 no event can hold it.
const maxLine = 1 << 31

// Check refuses a verdict that its findings do not bear out: the verdict
// derives from the findings.
func (r ReviewRecorded) Check() error {
	n := len(r.blockingFindings())
	switch {
	case r.Verdict != Approve && r.Verdict != RequestChanges:
		return E(EInvalid, "the verdict is approve or request_changes")
	case r.Verdict == Approve && n > 0:
		return E(EInvalid, "a verdict of approve with blocking findings").Fix("request changes, or make the findings minor")
	case r.Verdict == RequestChanges && n == 0:
		return E(EInvalid, "changes are requested without a blocking finding").Fix("name what is wrong or missing, and where it can be: file and line; or approve")
	}
	for _, f := range r.Findings {
		if f.Severity != Blocking && f.Severity != Minor {
			return E(EInvalid, "a finding's severity is blocking or minor")
		}
		if f.Line < 0 || f.Line > maxLine {
			return E(EInvalid, "a finding's line is a number of a line")
		}
		switch {
		case strings.TrimSpace(f.What) == "":
			return E(EInvalid, "a finding says what is wrong")
		case f.Line > 0 && f.File == "":
			return E(EInvalid, "a finding names a line and no file")
		case f.Severity == Blocking && f.Line == 0 && strings.TrimSpace(f.Why) == "":
			return E(EInvalid, "a blocking finding without a line says why: what asks for what is missing").
				Fix("name file and line, or say in why which criterion, caller or input shows it")
		}
	}
	return nil
}

func (c EndRun) reviewerSays(m Meta, t *Task, r *Run) ([]Event, error) {
	if c.Review == nil {
		return nil, E(EInvalid, "a reviewer's run ends with a verdict")
	}
	head, last := t.Head, t.Review.Last
	sub := t.Subtask(r.Subtask)
	if sub != nil {
		head, last = sub.Head, sub.Review.Last
	}
	said := *c.Review
	said.Judged = said.keepJudgements(last)
	if t.AwaitsSecondReview(sub) {
		var err error
		if said, err = said.ConfirmReview(*last, t.Settings.ConfirmReview); err != nil {
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
		return nil, nil // the head has moved: the verdict is of no use, and a new run is due
	}
	return []Event{m.newEvent(t.ID, r.Subtask, r.ID, &said)}, nil
}

func (*ReviewRecorded) Kind() string { return "review.finished" }
func (r *ReviewRecorded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	if sub == nil {
		t.Review.addReview(r, t.Settings)
	} else {
		sub.Review.addReview(r, t.Settings)
	}
	if t.AwaitsSecondReview(sub) {
		return
	}
	if r.Verdict != Approve {
		t.sendBack(sub)
	} else {
		t.passReview(sub)
	}
}

// passReview has an approved ticket merged. The whole (nil) is delivered, which is due by its state.
func (t *Task) passReview(sub *Subtask) {
	if sub != nil {
		sub.Status = SubtaskMerging
		t.Queue = append(t.Queue, sub.ID)
	}
}

// sendBack has the blocking findings of the newest review be mended: those of a ticket by its
// worker, those of the whole (nil) by a ticket of their own.
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

// JudgesWhole says whether the reviewer of a ticket judges the president's
// instruction too: it does when there is no other ticket.
func (t *Task) JudgesWhole() bool { return t.Settings.Rules >= 2 && len(t.Subtasks) == 1 }

// approvalCarries says whether the merge that is about to be done makes the
// whole of what the reviewer of the only ticket approved: by the instruction
// too, on the task's base, the very tree.
func (t *Task) approvalCarries() bool {
	in := t.MergeIntent
	if !t.JudgesWhole() || in.HeadTree != in.Tree || in.Onto != t.Prepared.Base.OID {
		return false
	}
	r := t.Subtasks[0].Review.Last
	return r != nil && r.Whole && r.Verdict == Approve && r.Head == in.Head && r.Onto == in.Onto
}

// ReviewCarried has the approval of a task's only ticket hold for the whole: the
// merge made the tree that was approved, and by the instruction too.
type ReviewCarried struct {
	From OID `json:"from"` // the ticket's head, that was approved
	Head OID `json:"head"` // of the integration branch
}

var _ = registerKind[ReviewCarried]()

func (*ReviewCarried) Kind() string { return "review.carried" }
func (d *ReviewCarried) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	from := t.Subtask(e.Subtask).Review
	r := *from.Last
	if from.Unconfirmed == r.Head {
		t.Review.Unconfirmed = d.Head
	}
	r.Head = d.Head
	t.Review.Last = &r
}

// CarriedFrom is the ticket whose approval holds for the whole, or nil.
func (t *Task) CarriedFrom() *Subtask {
	if r := t.Review.Last; r != nil && r.Whole {
		for _, sub := range t.Subtasks {
			if sub.Merged == r.Head {
				return sub
			}
		}
	}
	return nil
}

func formatFindings(fs []Finding) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString("- ")
		if at := f.Where(); at != "" {
			b.WriteString(at + ": ")
		}
		b.WriteString(f.What)
		if f.Why != "" {
			b.WriteString(" (" + f.Why + ")")
		}
		if f.Suggestion != "" {
			b.WriteString(" Suggestion: " + f.Suggestion)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ReviewVoided takes a verdict back: the base moved in a file of the diff.
type ReviewVoided struct {
	Onto OID `json:"onto"`
}

var _ = registerKind[ReviewVoided]()

func (*ReviewVoided) Kind() string { return "review.voided" }
func (d *ReviewVoided) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	t.removeFromQueue(sub.ID)
	delete(t.Failures, "merge "+string(sub.ID))
	sub.Review.withdrawLast(t.Settings)
	sub.Status = SubtaskInGate
}
