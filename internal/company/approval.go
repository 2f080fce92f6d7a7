package company

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ApprovalKind is what the president is asked about.
type ApprovalKind string

const (
	AskPlan          ApprovalKind = "plan"
	AskMerge         ApprovalKind = "merge"
	AskProtected     ApprovalKind = "protected" // the merge touches protected paths
	AskPR            ApprovalKind = "pr"
	AskNoGates       ApprovalKind = "no_gates"
	AskBudget        ApprovalKind = "budget"
	AskClarification ApprovalKind = "clarification"
	AskBlocked       ApprovalKind = "blocked" // a subtask that needs the president
	AskReview        ApprovalKind = "review"  // the review of the whole stays red
	AskGates         ApprovalKind = "gates"   // the gates of the whole stay red; no answer lets that pass
	AskUnread        ApprovalKind = "unread"  // a check is red as on the base, and new failures in it cannot be recognised
	AskTrouble       ApprovalKind = "trouble" // something outside keeps failing
	AskHeld          ApprovalKind = "held"    // something stands against pushing the branch
	// AskDependencyLeave asks whether a run may add a package of a registry.
	AskDependencyLeave ApprovalKind = "dependency"
)

// Answers to an approval. A clarification is answered with text alone.
const (
	OptApprove = "approve"
	OptReject  = "reject"
	OptAnswer  = "answer"
)

// meaning tells people what the two options do, by kind.
var meaning = map[ApprovalKind][2]string{
	AskPlan:      {"work on it", "plan anew with your words, or cancel without any"},
	AskMerge:     {"merge it", "back to the worker with your words"},
	AskProtected: {"merge it, what is protected included", "back to the worker with your words"},
	AskPR:        {"open the pull request", "cancel the task; the branch stays"},
	AskNoGates:   {"go on untested", "give the task up"},
	AskBudget:    {"raise the cap", "cancel the task"},
	AskBlocked:   {"try again, with your words", "give the task up"},
	AskReview:    {"let it pass", "give the task up"},
	AskGates:     {"have it mended once more, with your words", "give the task up"},
	AskUnread:    {"let it pass, unverified", "have it mended with your words, or give the task up without any"},
	AskTrouble:   {"try again", "give the task up"},
	AskHeld:      {"push it as it is; that you said so is recorded", "give the task up"},

	AskDependencyLeave: {"let it be added", "go on without it; your words reach the worker"},
}

// Approval is one question to the president, asked once and answered once.
type Approval struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"` // what it is about; a question with the same key is the same question
	Kind     ApprovalKind `json:"kind"`
	Task     TaskID       `json:"task"`
	Subtask  SubtaskID    `json:"subtask,omitempty"`
	Question string       `json:"question"`
	Asked    time.Time    `json:"asked"`
	Answered time.Time    `json:"answered,omitzero"`
	By       string       `json:"by,omitempty"`
	Option   string       `json:"option,omitempty"`
	Text     string       `json:"text,omitempty"`
	Token    string       `json:"token,omitempty"` // id of the command that answered it
}

// Open reports whether the question still waits.
func (a *Approval) Open() bool { return a.Answered.IsZero() }

// Options tells what can be answered, and what it means.
func (a *Approval) Options() map[string]string {
	if a.Kind == AskClarification {
		return map[string]string{OptAnswer: "in your words"}
	}
	w := meaning[a.Kind]
	return map[string]string{OptApprove: w[0], OptReject: w[1]}
}

// PendingQuestion is a question that the state calls for.
type PendingQuestion struct {
	Key      string
	Kind     ApprovalKind
	Task     TaskID
	Subtask  SubtaskID
	Question string
}

// requiredApprovals lists the questions that a task's state calls for, asked or not.
func (s *State) requiredApprovals(t *Task) []PendingQuestion {
	if t.Status.Ended() {
		return nil
	}
	var out []PendingQuestion
	id := string(t.ID)
	if t.Untested() && t.Settings.NoGates == "ask" {
		why := "No lint or test command was found in this repository."
		if len(t.Prepared.Gates) > 0 {
			why = "The only checks of this repository are linters that the image does not have."
		}
		out = append(out, PendingQuestion{Key: "no_gates " + id, Kind: AskNoGates, Task: t.ID,
			Question: why + " Go on without gates? The pull request will say UNTESTED."})
	}
	if t.Status == StatusExecuting && t.Settings.Plan == Ask {
		out = append(out, PendingQuestion{Key: t.planKey(), Kind: AskPlan, Task: t.ID,
			Question: "The plan has " + Count(len(t.Subtasks), "subtask") + " in " + Count(t.Plan.Waves, "wave") + ". Work on it?"})
	}
	for _, sub := range t.Subtasks {
		if sub.Status == SubtaskBlocked {
			out = append(out, PendingQuestion{Key: fmt.Sprintf("blocked %s %d", sub.ID, sub.Blocks), Kind: AskBlocked, Task: t.ID, Subtask: sub.ID,
				Question: string(sub.ID) + " is blocked: " + sub.Reason})
		}
		if sub.Status == SubtaskInGate {
			out = append(out, s.unreadWants(t, sub.ID, sub.headGateResult())...)
		}
		if w := s.mergeQuestion(t, sub); w != nil {
			out = append(out, *w)
		}
	}
	out = onceEach(out) // two subtasks may call for one question
	if t.Status == StatusReviewing && t.gateDone() {
		out = append(out, s.unreadWants(t, "", t.Gate)...)
	}
	for _, key := range sortedKeys(t.Failures) {
		f := t.Failures[key]
		if t.retriesExhausted(key, f) {
			q := fmt.Sprintf("%s failed %s: %s", key, Count(f.Attempt, "time"), f.Error)
			if f.Hint != "" {
				q += " Fix: " + f.Hint
			}
			out = append(out, PendingQuestion{Key: t.troubleKey(key, f), Kind: AskTrouble, Task: t.ID, Question: q})
		}
	}
	if t.BudgetShortfall != nil {
		out = append(out, PendingQuestion{Key: fmt.Sprintf("budget %s %d %d", id, t.Cap.MicroUSD, t.Cap.Tokens), Kind: AskBudget, Task: t.ID,
			Question: fmt.Sprintf("The next model call may cost %s, and %s of %s are used. Raise the cap?", t.BudgetShortfall, t.Spent.Add(t.Reserved()), t.Held())})
	}
	if t.Status == StatusReviewing && t.reviewExhausted() {
		switch {
		case t.gateDone() && s.awaitsUnreadVerdict(t, t.Gate):
		case t.gateDone() && !t.gatePassed():
			out = append(out, PendingQuestion{Key: "gates " + id + " " + string(t.Head), Kind: AskGates, Task: t.ID,
				Question: "The gates stay red on the merged whole after every round: " + firstLine(t.Gate.Result.failedOutput()) + " Have it mended once more?"})
		case t.gatePassed() && !t.Review.Allows(t.Head):
			out = append(out, PendingQuestion{Key: "review " + id + " " + string(t.Head), Kind: AskReview, Task: t.ID,
				Question: "The review of the whole still objects after every round. Let it pass?"})
		}
	}
	if t.HeldDelivery != nil && t.HeldDelivery.Head == t.Head && s.canDeliver(t) {
		out = append(out, t.heldWant())
	}
	if t.Status == StatusReviewing && t.Settings.PR == Ask && t.gatePassed() && t.Review.Allows(t.Head) {
		out = append(out, PendingQuestion{Key: prKey(t), Kind: AskPR, Task: t.ID, Question: "Open the pull request?"})
	}
	return out
}

// onceEach keeps the first of the questions with one key.
func onceEach(wants []PendingQuestion) []PendingQuestion {
	seen := map[string]bool{}
	return slices.DeleteFunc(wants, func(w PendingQuestion) bool {
		was := seen[w.Key]
		seen[w.Key] = true
		return was
	})
}

func (t *Task) troubleKey(key string, f Failure) string {
	return fmt.Sprintf("trouble %s %s %d", t.ID, key, f.NotBefore.UnixNano())
}

// planStands says whether work may begin: there is a plan, and the president's
// leave where it is asked for.
func (s *State) planStands(t *Task) bool {
	return t.Status == StatusExecuting && (t.Settings.Plan != Ask || s.isApproved(t.planKey()))
}

func (t *Task) planKey() string { return "plan " + string(t.Plan.Accepted) }

// mergeQuestion is the leave that a merge needs from the president, or nil.
func (s *State) mergeQuestion(t *Task, sub *Subtask) *PendingQuestion {
	if sub.Status != SubtaskMerging || sub.Conflict != nil {
		return nil
	}
	if d := sub.Doubt; d != nil && d.Head == sub.Head && d.Onto == t.Head {
		for _, w := range s.unreadWants(t, sub.ID, d) {
			if !s.isApproved(w.Key) {
				return &w
			}
		}
	}
	paths, tests := t.protectedChanges(sub), t.testChanges(sub)
	if len(paths)+len(tests) > 0 {
		q := ""
		if len(paths) > 0 {
			q = string(sub.ID) + " changes protected paths: " + nameSome(paths) + ". "
		}
		if len(tests) > 0 {
			q += string(sub.ID) + " changes or deletes tests that were there before: " + nameSome(tests) + ". "
		}
		return &PendingQuestion{Key: "protected " + string(sub.ID) + " " + string(sub.Head), Kind: AskProtected, Task: t.ID, Subtask: sub.ID,
			Question: q + "Merge it?"}
	}
	if t.Settings.Merge == Ask {
		return &PendingQuestion{Key: "merge " + string(sub.ID) + " " + string(sub.Head), Kind: AskMerge, Task: t.ID, Subtask: sub.ID,
			Question: "Merge " + string(sub.ID) + " (" + sub.Planned.Title + ")?"}
	}
	return nil
}

// nameSome names the first 20 of a list, and how many more there are: an agent
// may change thousands of files.
func nameSome(list []string) string {
	const most = 20
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// protectedChanges are the protected paths that a subtask's head changes.
func (t *Task) protectedChanges(sub *Subtask) []string {
	rules := t.planRules()
	var out []string
	for _, c := range sub.Changes {
		if rules.IsProtected(c.Path) || ChangesGuardedCode(c) {
			out = append(out, c.Path)
		}
	}
	return out
}

func (s *State) isApproved(key string) bool {
	a := s.Approvals[s.ByKey[key]]
	return a != nil && !a.Open() && a.Option == OptApprove
}

func (s *State) hasOpen(t TaskID, k ApprovalKind) bool {
	for _, a := range s.OpenApprovals(t) {
		if a.Kind == k {
			return true
		}
	}
	return false
}

// OpenApprovals lists what waits for the president, oldest first; of one task,
// or of all with an empty id. A task that has ended waits for nothing.
func (s *State) OpenApprovals(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool {
		return a.Open() && (t == "" || a.Task == t) && !s.Tasks[a.Task].Status.Ended()
	})
}

// AnsweredApprovals are the answered questions of a task, oldest first.
func (s *State) AnsweredApprovals(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool { return a.Task == t && !a.Open() })
}

func (s *State) selectApprovals(wanted func(*Approval) bool) []*Approval {
	var out []*Approval
	for _, a := range s.Approvals {
		if wanted(a) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *Approval) int { return a.ID.sequenceNumber() - b.ID.sequenceNumber() })
	return out
}

// Clarifications are the answered questions of a task, oldest first.
func (s *State) Clarifications(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool {
		return a.Task == t && !a.Open() && a.Text != "" && (a.Kind == AskClarification || a.Kind == AskPlan)
	})
}

func (id ApprovalID) sequenceNumber() int {
	n := 0 //mutant:equal number=1 one digit more in front of all leaves them in order
	for _, r := range id[min(1, len(id)):] {
		n = n*10 + int(r-'0')
	}
	return n
}

// OpenApproval asks a question that the state calls for.
type OpenApproval struct{ Question PendingQuestion }

func (c OpenApproval) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Question.Task)
	if err != nil {
		return nil, err
	}
	// The text may be out of date since the question became due (the amount
	// spent, say): ask what holds now.
	for _, w := range s.requiredApprovals(t) {
		if w.Key == c.Question.Key {
			return openApproval(s, m, w), nil
		}
	}
	return nil, nil
}

// maxQuestion bounds a question, in bytes: one that the ledger could not hold
// would never be asked. What checks print is part of some.
const maxQuestion = 256 << 10

func openApproval(s *State, m Meta, w PendingQuestion) []Event {
	if _, asked := s.ByKey[w.Key]; asked {
		return nil
	}
	id := ApprovalID("a" + itoa(len(s.Approvals)+1))
	return []Event{m.newEvent(w.Task, w.Subtask, "", &ApprovalOpened{ID: id, Key: w.Key, AskKind: w.Kind, Question: cutText(w.Question, maxQuestion)})}
}

// ApprovalOpened is a question to the president.
type ApprovalOpened struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"`
	AskKind  ApprovalKind `json:"kind"`
	Question string       `json:"question"`
}

var _ = registerKind[ApprovalOpened]()

// Kind is the event's name.
func (*ApprovalOpened) Kind() string { return "approval.opened" }
func (d *ApprovalOpened) apply(s *State, e Event) {
	s.Approvals[d.ID] = &Approval{ID: d.ID, Key: d.Key, Kind: d.AskKind, Task: e.Task, Subtask: e.Subtask, Question: d.Question, Asked: e.Time}
	s.ByKey[d.Key] = d.ID
	if t := s.Tasks[e.Task]; t != nil && t.Failures[askFailure(d.AskKind, d.Key)].Attempt > 0 {
		delete(s.editTask(e.Task).Failures, askFailure(d.AskKind, d.Key))
	}
}

// Answer is the president's. It counts once: the same command again changes
// nothing, another one is refused.
type Answer struct {
	Approval ApprovalID
	Option   string
	Text     string
	By       string
	Raise    Amount // of a budget: how much the cap grows; zero: by the default cap
}

func (c Answer) decide(s *State, m Meta) ([]Event, error) {
	a := s.Approvals[c.Approval]
	if a == nil {
		return nil, E(ENotFound, "there is no question "+string(c.Approval)).Fix("company status lists what waits for you")
	}
	if !a.Open() {
		if a.Token == m.ID && m.ID != "" && a.Option == c.Option && a.Text == c.Text {
			return nil, nil
		}
		return nil, E(EConflict, string(a.ID)+" was answered already: "+a.Option).Fix("company show " + string(a.Task) + " tells what became of it")
	}
	t, err := s.Task(a.Task)
	if err != nil {
		return nil, err
	}
	if t.Status.Ended() {
		return nil, E(EConflict, string(t.ID)+" has ended: "+string(t.Status))
	}
	if len(c.Text) > 64<<10 {
		return nil, E(EInvalid, "the answer is longer than 64 KiB")
	}
	switch {
	case a.Kind == AskClarification:
		if c.Option != OptAnswer || strings.TrimSpace(c.Text) == "" {
			return nil, E(EInvalid, string(a.ID)+" asks for words").Fix(fmt.Sprintf("company answer %s %q", a.ID, "…"))
		}
	case c.Option != OptApprove && c.Option != OptReject:
		return nil, E(EInvalid, string(a.ID)+" is answered with approve or reject").Fix("company approve " + string(a.ID))
	}
	if !c.Raise.IsValid() {
		return nil, E(EInvalid, "a cap is not raised by less than nothing")
	}
	evs := []Event{m.newEvent(a.Task, a.Subtask, "", &ApprovalAnswered{ID: a.ID, Option: c.Option, Text: c.Text, By: c.By})}
	reject := c.Option == OptReject
	switch a.Kind {
	case AskBudget:
		if reject {
			return append(evs, m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "the budget was not raised"})), nil
		}
		raise := c.Raise
		if raise == (Amount{}) {
			raise = Amount{MicroUSD: max(0, t.Settings.Cap.MicroUSD), Tokens: max(0, t.Settings.Cap.Tokens)}
			if t.BudgetShortfall != nil {
				raise = Amount{MicroUSD: max(raise.MicroUSD, t.BudgetShortfall.MicroUSD), Tokens: max(raise.Tokens, t.BudgetShortfall.Tokens)}
			}
		}
		if err := t.checkRaise(raise); err != nil {
			return nil, err
		}
		return append(evs, m.newEvent(t.ID, "", "", &BudgetRaised{By: raise})), nil
	case AskPlan:
		if reject && strings.TrimSpace(c.Text) == "" {
			return append(evs, m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "the plan was rejected"})), nil
		}
	case AskUnread:
		if reject && strings.TrimSpace(c.Text) == "" {
			return append(evs, m.newEvent(t.ID, "", "", &TaskFailed{Code: EGates, Reason: firstLine(a.Question) + " The president gave it up."})), nil
		}
	case AskPR:
		if reject {
			return append(evs, m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "the pull request was not wanted"})), nil
		}
	case AskNoGates, AskBlocked, AskReview, AskGates, AskTrouble, AskHeld:
		if reject {
			return append(evs, m.newEvent(t.ID, "", "", &TaskFailed{Code: EWaiting, Reason: endSentence(a.Question) + " The president gave it up."})), nil
		}
	}
	return evs, nil
}

// endSentence ends a text as a sentence does, so that another can follow it.
func endSentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// ApprovalAnswered is the president's answer.
type ApprovalAnswered struct {
	ID     ApprovalID `json:"id"`
	Option string     `json:"option"`
	Text   string     `json:"text,omitempty"`
	By     string     `json:"by,omitempty"`
}

var _ = registerKind[ApprovalAnswered]()

// Kind is the event's name.
func (*ApprovalAnswered) Kind() string { return "approval.answered" }
func (d *ApprovalAnswered) apply(s *State, e Event) {
	a := *s.Approvals[d.ID]
	a.Answered, a.Option, a.Text, a.By, a.Token = e.Time, d.Option, d.Text, d.By, e.Cause
	s.Approvals[d.ID] = &a
	t := s.editTask(a.Task)
	sub := t.Subtask(a.Subtask)
	reject := d.Option == OptReject
	switch a.Kind {
	case AskPlan:
		if reject {
			t.Status, t.Subtasks, t.Plan.Accepted = StatusDecomposing, nil, ""
		}
	case AskMerge, AskProtected:
		if reject {
			t.removeFromQueue(sub.ID)
			if strings.TrimSpace(d.Text) == "" {
				sub.requeue("")
				sub.blockForPresident("the president would not have it merged")
				return
			}
			sub.requeue("The president says: " + d.Text)
		}
	case AskBlocked:
		if !reject {
			sub.Guided = 0
			delete(t.Failures, "run "+string(sub.ID))
			input := ""
			if d.Text != "" {
				input = "The president says: " + d.Text
			}
			sub.resetAndRequeue(input)
			sub.Status = SubtaskPending
		}
	case AskReview:
		if !reject {
			t.Review.Waived = t.Head
		}
	case AskUnread:
		if reject && strings.TrimSpace(d.Text) != "" {
			t.rejectUnread(a.Key, "The president says: "+d.Text)
		}
	case AskGates:
		if !reject {
			what := t.Gate.Result.failedOutput()
			if d.Text != "" {
				what += "\nThe president says: " + d.Text
			}
			t.Review.Rounds = 0
			t.addRepairWave("The gates are red on the merged whole", what)
		}
	case AskHeld:
		if !reject && t.HeldDelivery != nil {
			for _, doubt := range t.HeldDelivery.Doubts {
				t.Allowed = append(slices.Clone(t.Allowed), doubt.Key)
			}
		}
	case AskTrouble:
		if !reject {
			for key, f := range t.Failures {
				if a.Key == t.troubleKey(key, f) {
					delete(t.Failures, key)
				}
			}
		}
	}
}
