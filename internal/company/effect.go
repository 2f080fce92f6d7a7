package company

import (
	"slices"
	"strings"
	"time"
)

// EffectKind is the kind of work, and so selects its handler.
type EffectKind string

const (
	EffectCommand   EffectKind = "note"       // nothing outside: a consequence that is itself a command
	EffectPrepare   EffectKind = "prepare"    // find the base and the gates
	EffectImage     EffectKind = "image"      // make the image
	EffectBaseline  EffectKind = "baseline"   // run the gates on the base tree
	EffectManage    EffectKind = "manage"     // the manager plans, or decides on a subtask
	EffectEnqueue   EffectKind = "enqueue"    // the item of a run that is on offer lies on the queue
	EffectWork      EffectKind = "work"       // a worker has claimed the run and is at it
	EffectGate      EffectKind = "gate"       // run the gates on a head
	EffectReview    EffectKind = "review"     // the reviewer
	EffectTestMerge EffectKind = "test_merge" // does it merge, and are the gates green on that tree
	EffectTestAhead EffectKind = "test_ahead" // the same of those behind, on the tree that is assumed; a guess, and never due
	EffectResolve   EffectKind = "resolve"    // the merger agent
	EffectMerge     EffectKind = "merge"      // commit and move the integration branch
	EffectDeliver   EffectKind = "deliver"    // push, pull request
)

// EffectKinds returns all kinds of effects.
func EffectKinds() []EffectKind {
	return []EffectKind{
		EffectCommand, EffectPrepare, EffectImage, EffectBaseline, EffectManage, EffectEnqueue, EffectWork,
		EffectGate, EffectReview, EffectTestMerge, EffectTestAhead, EffectResolve, EffectMerge, EffectDeliver,
	}
}

// Effect is work that must now be under way in the world. Its key is
// deterministic: the same state calls for the same effects, so a restart starts
// the missing ones and none twice. When a key leaves Due, its handler is
// cancelled.
type Effect struct {
	Key     string
	Kind    EffectKind
	Task    TaskID
	Subtask SubtaskID
	Run     RunID
	Fail    string  // the key that its failures are counted under, never empty
	Command Command // of EffectCommand
	Offer   OfferID // of EffectEnqueue
	Fence   uint64  // of the claim under which Run is held; 0: it is not held
	Claim   Claim   // of EffectManage, EffectReview and EffectResolve: what their agent claims
	// Stack is what EffectTestMerge and EffectTestAhead test, in order, and Onto the head of
	// the integration branch. Assumes are, of EffectTestAhead, those that are merged before.
	Stack   []QueuedHead
	Onto    OID
	Assumes []QueuedHead
	// Drain says that the task or the subtask is paused: the run that is held comes
	// to the end of its turn and is let go.
	Drain bool
}

// Due lists what must be under way at this moment: projects take turns, and of each
// the most urgent task comes first. It reads the state and nothing else. active is how many tasks
// may work at once. What it says of a task follows from that task, from the questions about
// it, from its earlier follow-ups, and from the tasks that it begins after: an Agenda looks
// again when one of those changes.
func Due(s *State, now time.Time, active int) []Effect {
	if s.Office.Stopped || s.Office.Epoch == 0 {
		return nil
	}
	var out []Effect
	for _, id := range s.roundRobinTasks() {
		t := s.Tasks[id]
		if t.Paused {
			out = s.dueWhilePaused(out, t, now)
			continue
		}
		if active <= 0 && !s.underWay(t) {
			continue
		}
		before := len(out)
		out = s.dueTask(out, t, now)
		if len(out) > before {
			active--
		}
	}
	return s.limitToFreeWorkers(out, s.projectLoads)
}

// IsDue says whether an effect is due but for the limits on tasks and workers: those
// decide what begins, not what ends.
func IsDue(s *State, e Effect, now time.Time) bool {
	t := s.Tasks[e.Task]
	if t == nil || t.Status.Ended() || s.Office.Stopped || s.Office.Epoch == 0 {
		return false
	}
	due := s.dueTask
	if t.Paused {
		due = s.dueWhilePaused
	}
	return slices.ContainsFunc(due(nil, t, now), func(o Effect) bool { return o.Key == e.Key })
}

// dueWhilePaused are the held runs of a paused task: a pause lets turns end.
// Gates, images and pushes are broken off; they are done again.
func (s *State) dueWhilePaused(out []Effect, t *Task, now time.Time) []Effect {
	for _, e := range s.dueTask(nil, t, now) {
		_, ticks := e.Command.(EnforceDeadlines)
		r := t.Runs[e.Run]
		if ticks || r != nil && r.Held {
			e.Drain = true
			out = append(out, e)
		}
	}
	return out
}

// underWay says whether the task is being worked on, or a worker may take up a
// run of it at any moment; newer limits do not stop such a task.
func (s *State) underWay(t *Task) bool {
	if t.MergeIntent != nil || t.StackIntent != nil {
		return true
	}
	for _, r := range t.Runs {
		if r.Held || s.onOffer(r) && !t.isPaused(r.Subtask) {
			return true
		}
	}
	return false
}

// onOffer says whether a worker may claim the run.
func (s *State) onOffer(r *Run) bool {
	return !r.Held && !r.Ended && r.Offered == s.Office.Epoch
}

// HeldRun says whether a run of the task is claimed.
func (t *Task) HeldRun() bool {
	for _, r := range t.Runs {
		if r.Held {
			return true
		}
	}
	return false
}

func (s *State) dueTask(out []Effect, t *Task, now time.Time) []Effect {
	id := string(t.ID)
	add := func(e Effect) {
		e.Task = t.ID
		// A claimed run goes on; its failures bar the next offer.
		if f, ok := t.Failures[e.Fail]; ok && e.Kind != EffectWork && (t.retriesExhausted(e.Fail, f) || now.Before(f.NotBefore)) {
			return
		}
		if s.restsForMoney(t, e.Run, now) {
			if r := t.Runs[e.Run]; r == nil || !r.Held {
				return
			}
			e.Drain = true
		}
		if r := t.Runs[e.Run]; r != nil && r.Held {
			e.Fence = r.Fence
		}
		out = append(out, e)
	}
	for _, w := range s.requiredApprovals(t) {
		if _, asked := s.ByKey[w.Key]; !asked {
			add(Effect{Key: "ask " + w.Key, Kind: EffectCommand, Command: OpenApproval{w}, Fail: askFailure(w.Kind, w.Key)})
		}
	}
	for _, r := range t.Runs {
		if r.Held && !now.Before(r.Deadline) {
			add(Effect{Key: "tick " + id, Kind: EffectCommand, Command: EnforceDeadlines{}, Fail: tickFailure})
			break
		}
	}
	if t.looksForBase() && !s.hasEarlierFollowUp(t) && !s.isWaiting(t) {
		add(Effect{Key: "prepare " + id, Kind: EffectPrepare, Fail: "prepare"})
	}
	if t.imageDue() {
		add(Effect{Key: strings.Join(append([]string{"image", id, string(t.Prepared.Base.OID)}, t.Prepared.Services...), " "), Kind: EffectImage, Fail: "prepare"})
	}
	if t.baselineDue() {
		add(Effect{Key: "baseline " + id, Kind: EffectBaseline, Fail: "baseline"})
	}
	if t.Status == StatusDecomposing && s.mayPlan(t) && t.isAlone() {
		add(Effect{Key: "alone " + id, Kind: EffectCommand, Command: BeginAlone{t.ID}, Fail: "plan"})
	}
	if run := s.dueRun(t, Manager, ""); run != "" {
		add(Effect{Key: "manage " + string(run), Kind: EffectManage, Run: run, Claim: s.claimBy(Manager, run, t.Head), Fail: "plan"})
	}
	if s.planStands(t) && s.mayWork(t) {
		for _, sub := range t.Subtasks {
			switch {
			case !t.IsReady(sub):
			case sub.Paused:
				s.dueSubtask(func(e Effect) {
					if r := t.Runs[e.Run]; r != nil && r.Held {
						e.Drain = true
						add(e)
					}
				}, t, sub)
			default:
				s.dueSubtask(add, t, sub)
			}
		}
		if e, ok := s.dueMerge(t); ok && s.mayJudge(t) {
			add(e)
		}
	}
	if t.Status == StatusReviewing && s.mayJudge(t) {
		switch {
		case s.gateDue(t):
			add(Effect{Key: "gate " + id + " " + string(t.Head), Kind: EffectGate, Fail: "gate"})
		case !t.gatePassed():
		case s.dueRun(t, Reviewer, "") != "":
			run := s.dueRun(t, Reviewer, "")
			add(Effect{Key: "review " + string(run), Kind: EffectReview, Run: run, Claim: s.claimBy(Reviewer, run, t.Head), Fail: "review"})
		case s.canDeliver(t) && (t.Delivery == nil || t.Delivery.Head != t.Head):
			add(Effect{Key: "intend " + id, Kind: EffectCommand, Command: IntendDelivery{t.ID}, Fail: intendFailure})
		case s.canDeliver(t) && !s.isPushHeld(t):
			add(Effect{Key: "deliver " + id + " " + string(t.Head), Kind: EffectDeliver, Fail: deliverFailure})
		}
	}
	return out
}

func (s *State) dueSubtask(add func(Effect), t *Task, sub *Subtask) {
	id := string(sub.ID)
	// The offer is made in the ledger first; what puts it on the queue is the
	// effect of that, and due until the run is claimed.
	offer := func(run RunID, offers int) {
		o := OfferID{Run: run, Epoch: s.Office.Epoch, Number: offers + 1}
		add(Effect{Key: "offer " + o.String(), Kind: EffectCommand, Subtask: sub.ID, Run: run, Command: Offer{run}, Fail: "run " + id})
	}
	switch sub.Status {
	case SubtaskPending:
		if sub.Escalation == "" {
			offer(NewRunID(t.ID, sub.ID, Worker, sub.Started+1), 0)
		}
	case SubtaskAssigned:
		switch r := t.Runs[sub.Current]; {
		case r == nil:
		case s.onOffer(r):
			o := OfferID{Run: r.ID, Epoch: r.Offered, Number: r.Offers}
			add(Effect{Key: "enqueue " + o.String(), Kind: EffectEnqueue, Subtask: sub.ID, Run: r.ID, Offer: o, Fail: "run " + id})
		default:
			offer(r.ID, r.Offers)
		}
	case SubtaskRunning:
		if r := t.Runs[sub.Current]; r != nil && r.Held {
			add(Effect{Key: "work " + string(r.ID), Kind: EffectWork, Subtask: sub.ID, Run: r.ID, Fail: "run " + id})
		}
	case SubtaskInGate:
		if s.mayJudge(t) && !s.awaitsUnreadVerdict(t, sub.headGateResult()) && !t.awaitsRedGreen(sub) {
			add(Effect{Key: "gate " + id + " " + string(sub.Head), Kind: EffectGate, Subtask: sub.ID, Fail: "gate " + id})
		}
	case SubtaskReviewing:
		run := s.dueRun(t, Reviewer, sub.ID)
		add(Effect{Key: "review " + string(run), Kind: EffectReview, Subtask: sub.ID, Run: run, Claim: s.claimBy(Reviewer, run, t.Head), Fail: "review " + id})
	case SubtaskMerging:
		if run := s.dueRun(t, Merger, sub.ID); run != "" {
			add(Effect{Key: "resolve " + string(run), Kind: EffectResolve, Subtask: sub.ID, Run: run, Claim: s.claimBy(Merger, run, sub.Conflict.Onto), Fail: "resolve " + id})
		}
	}
}

// claimBy is the claim of a run by one of the company's own agents, which looks
// at a commit.
func (s *State) claimBy(role Role, run RunID, from OID) Claim {
	return Claim{Run: run, Epoch: s.Office.Epoch, Worker: string(role), From: from}
}

// NextDue is when Due changes by time alone: the earliest retry or deadline
// after now. Zero: only an event can change it.
func NextDue(s *State, now time.Time) time.Time {
	next := s.Spending.endsAfter(now)
	for _, id := range s.Open {
		next = earliestAfter(time.Time{}, next, nextChange(s.Tasks[id], now))
	}
	return next
}

// nextChange is when the effects of a task change by time alone; zero: never.
func nextChange(t *Task, now time.Time) time.Time {
	var next time.Time
	for key, f := range t.Failures {
		if !t.retriesExhausted(key, f) {
			next = earliestAfter(now, next, f.NotBefore)
		}
	}
	for _, r := range t.Runs {
		if r.Held {
			next = earliestAfter(now, next, r.Deadline)
		}
	}
	return next
}

// earliestAfter is the earlier of two times, where the second counts only when it is
// after now, and a zero first is none.
func earliestAfter(now, next, at time.Time) time.Time {
	if at.After(now) && (next.IsZero() || at.Before(next)) {
		return at
	}
	return next
}

// Keys of failures of notes, and of the delivery.
const (
	tickFailure       = "tick"
	intendFailure     = "intend"
	deliverFailure    = "deliver"
	askTroubleFailure = "ask trouble"
)

// askFailure is the key for a question that cannot be asked. It is asked about
// in its turn, so all questions about failures share a key: it ends there.
func askFailure(kind ApprovalKind, key string) string {
	if kind == AskTrouble {
		return askTroubleFailure
	}
	return "ask " + key
}

// ReportEffectFailure brings in that an effect could not be done.
type ReportEffectFailure struct {
	Task TaskID
	Key  string // Effect.Fail
	EffectFailed
}

// EffectFailed is an effect that could not be done; it is tried again later.
type EffectFailed struct {
	EffectKey string `json:"fail"`
	Code      Code   `json:"code"`
	Error     string `json:"error"`
	Hint      string `json:"hint,omitempty"`
	Human     bool   `json:"human,omitempty"`
	// Line is a line of the config that mends it, with the file that it would be written to.
	Line *ConfigLine `json:"line,omitempty"`
}

var _ = registerKind[EffectFailed]()

func (c ReportEffectFailure) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if c.Key == "" {
		return nil, E(EInvalid, "a failed effect needs its key")
	}
	c.EffectFailed.EffectKey = c.Key
	return []Event{m.newEvent(t.ID, "", "", c.EffectFailed.truncated())}, nil
}

// maxFailureText bounds, in bytes, the stored text of a failure. One that the
// ledger could not hold would not be counted: its effect would begin again at
// once, and for ever.
const maxFailureText = 16 << 10

func (d EffectFailed) truncated() *EffectFailed {
	d.Error, d.Hint, d.Line = cutText(d.Error, maxFailureText), cutText(d.Hint, maxFailureText), placedLine(d.Line)
	return &d
}

// cutText is a text of at most n bytes, and says where it was cut.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func (*EffectFailed) Kind() string { return "effect.failed" }
func (d *EffectFailed) apply(s *State, e Event) {
	s.editTask(e.Task).countFailure(d.EffectKey, e.Time, *d)
}

// countFailure counts a failure and says when to try again: after 1, 4, 16, 64 s, at
// most 5 min.
func (t *Task) countFailure(key string, now time.Time, d EffectFailed) {
	f := t.Failures[key]
	f.Attempt++
	wait := time.Second << min(2*(f.Attempt-1), 10)
	f.NotBefore = now.Add(min(wait, 5*time.Minute))
	f.Code, f.Error, f.Hint, f.NeedsPerson, f.Line = d.Code, d.Error, d.Hint, d.Human, d.Line
	t.Failures[key] = f
}

// retriesExhausted says that trying again is the president's to decide. He cannot
// where it is just this that he cannot be asked: that is tried for ever.
func (t *Task) retriesExhausted(key string, f Failure) bool {
	return key != askTroubleFailure && (f.NeedsPerson || f.Attempt > t.Settings.EffectRetries)
}

// NextRetry is when the earliest failed effect of a task is tried again; zero
// when none will be by itself.
func NextRetry(s *State, id TaskID, now time.Time) time.Time {
	var next time.Time
	if t := s.Tasks[id]; t != nil {
		for key, f := range t.Failures {
			if !t.retriesExhausted(key, f) && f.NotBefore.After(now) && (next.IsZero() || f.NotBefore.Before(next)) {
				next = f.NotBefore
			}
		}
	}
	return next
}
