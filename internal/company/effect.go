package company

import (
	"slices"
	"strings"
	"time"
)

// EffectKind is the kind of an effect. It selects the handler.
type EffectKind string

const (
	EffectCommand   EffectKind = "note"       // no work outside of the core: the effect is itself a command
	EffectPrepare   EffectKind = "prepare"    // find the base and the gates
	EffectImage     EffectKind = "image"      // build the image
	EffectBaseline  EffectKind = "baseline"   // run the gates on the base tree
	EffectManage    EffectKind = "manage"     // the manager plans, or decides on a subtask
	EffectEnqueue   EffectKind = "enqueue"    // put the item of an offered run on the queue
	EffectWork      EffectKind = "work"       // a worker has claimed the run and works on it
	EffectGate      EffectKind = "gate"       // run the gates on a head
	EffectReview    EffectKind = "review"     // the reviewer
	EffectTestMerge EffectKind = "test_merge" // check that it merges and that the gates are green on the merged tree
	EffectResolve   EffectKind = "resolve"    // the merger agent
	EffectMerge     EffectKind = "merge"      // commit and move the integration branch
	EffectDeliver   EffectKind = "deliver"    // push, pull request
)

// EffectKinds returns all kinds of effects.
func EffectKinds() []EffectKind {
	return []EffectKind{
		EffectCommand, EffectPrepare, EffectImage, EffectBaseline, EffectManage, EffectEnqueue, EffectWork,
		EffectGate, EffectReview, EffectTestMerge, EffectResolve, EffectMerge, EffectDeliver,
	}
}

// Effect is work that must now be under way outside of the core. Its key is deterministic: the same state yields the
// same effects. A restart therefore starts the missing effects and starts none twice. When a key leaves Due, its
// handler is cancelled.
type Effect struct {
	Key     string
	Kind    EffectKind
	Task    TaskID
	Subtask SubtaskID
	Run     RunID
	Fail    string      // the key that its failures are counted under, never empty
	Command Command     // of EffectCommand
	Offer   OfferID     // of EffectEnqueue
	Fence   uint64      // of the claim that holds Run; 0 means that Run is not held
	Claim   Claim       // of EffectManage, EffectReview and EffectResolve: the claim of their agent
	Stack   []SubtaskID // of EffectTestMerge: the subtasks to test, in order
	// Drain means that the task or the subtask is paused: the held run finishes its turn and is then released.
	Drain bool
}

// Due lists the effects that must be under way now. Projects take turns, and within a project the most urgent task
// comes first. It reads only the state. active limits how many tasks may work at once. The effects of a task depend on
// that task, on the approvals about it, on its earlier follow-ups, and on the tasks that it begins after. An Agenda
// recomputes them when one of those changes.
func Due(state *State, now time.Time, active int) []Effect { return state.findDue(now, active, nil) }

// findDue returns the effects that must be under way now. It calls hold for work that does not begin. hold may be nil.
func (s *State) findDue(now time.Time, active int, hold func(Hold)) []Effect {
	if s.Office.Stopped || s.Office.Epoch == 0 {
		return nil
	}
	var out []Effect
	var working, queued []TaskID
	for _, id := range s.roundRobinTasks() {
		task := s.Tasks[id]
		if task.Paused {
			out = s.dueWhilePaused(out, task, now)
			continue
		}
		if len(working) >= active && !s.underWay(task) {
			if hold != nil && len(s.dueTask(nil, task, now, hold)) > 0 {
				queued = append(queued, id)
			}
			continue
		}
		before := len(out)
		out = s.dueTask(out, task, now, hold)
		if len(out) > before {
			working = append(working, id)
		}
	}
	for _, id := range queued {
		hold(Hold{Task: id, Kind: HoldSlot, Tasks: working})
	}
	return s.limitToFreeWorkers(out, s.projectLoads, hold)
}

// IsDue reports whether an effect is due, regardless of the limits on tasks and workers. Those limits decide which
// effects begin, not which end.
func IsDue(state *State, effect Effect, now time.Time) bool {
	task := state.Tasks[effect.Task]
	if task == nil || task.Status.Ended() || state.Office.Stopped || state.Office.Epoch == 0 {
		return false
	}
	var due []Effect
	if task.Paused {
		due = state.dueWhilePaused(nil, task, now)
	} else {
		due = state.dueTask(nil, task, now, nil)
	}
	return slices.ContainsFunc(due, func(o Effect) bool { return o.Key == effect.Key })
}

// dueWhilePaused appends the held runs of a paused task, which may finish their turns. Gates, image builds and pushes
// are cancelled and done again after the pause.
func (s *State) dueWhilePaused(out []Effect, task *Task, now time.Time) []Effect {
	for _, effect := range s.dueTask(nil, task, now, nil) {
		_, ticks := effect.Command.(EnforceDeadlines)
		r := task.Runs[effect.Run]
		if ticks || r != nil && r.Held {
			effect.Drain = true
			out = append(out, effect)
		}
	}
	return out
}

// underWay reports whether the task is being worked on, or a worker may claim one of its runs. New limits do not stop
// such a task.
func (s *State) underWay(task *Task) bool {
	if task.MergeIntent != nil || task.StackIntent != nil {
		return true
	}
	for _, r := range task.Runs {
		if r.Held || s.onOffer(r) && !task.isPaused(r.Subtask) {
			return true
		}
	}
	return false
}

// onOffer reports whether a worker may claim the run.
func (s *State) onOffer(r *Run) bool {
	return !r.Held && !r.Ended && r.Offered == s.Office.Epoch
}

// HeldRun reports whether a run of the task is claimed.
func (t *Task) HeldRun() bool {
	for _, r := range t.Runs {
		if r.Held {
			return true
		}
	}
	return false
}

// dueWork is dueTask without the search for a deadlock. hold may not be nil.
func (s *State) dueWork(out []Effect, task *Task, now time.Time, hold func(Hold)) []Effect {
	id := string(task.ID)
	add := func(effect Effect) {
		effect.Task = task.ID
		// A claimed run continues; its failures only delay the next offer.
		if f, ok := task.Failures[effect.Fail]; ok && effect.Kind != EffectWork {
			if held := task.holdAfter(effect, f, now); held != nil {
				hold(*held)
				return
			}
		}
		if s.restsForMoney(task, effect.Run, now) {
			if r := task.Runs[effect.Run]; r == nil || !r.Held {
				hold(Hold{Task: task.ID, Subtask: effect.Subtask, Kind: HoldMoney})
				return
			}
			effect.Drain = true
		}
		if r := task.Runs[effect.Run]; r != nil && r.Held {
			effect.Fence = r.Fence
		}
		out = append(out, effect)
	}
	for _, question := range s.requiredApprovals(task) {
		if _, asked := s.ByKey[question.Key]; !asked {
			add(Effect{Key: "ask " + question.Key, Kind: EffectCommand, Command: OpenApproval{question},
				Fail: askFailure(question.Kind, question.Key)})
		}
	}
	for _, r := range task.Runs {
		if r.Held && !now.Before(r.Deadline) {
			add(Effect{Key: "tick " + id, Kind: EffectCommand, Command: EnforceDeadlines{}, Fail: tickFailure})
			break
		}
	}
	if task.looksForBase() {
		if before := s.holdBefore(task); before != nil {
			hold(*before)
		} else {
			add(Effect{Key: "prepare " + id, Kind: EffectPrepare, Fail: "prepare"})
		}
	}
	if task.imageDue() {
		add(Effect{
			Key: strings.Join(
				slices.Concat([]string{"image", id, string(task.Prepared.Base.OID)}, task.Prepared.Services,
					task.Prepared.Packages), " "),
			Kind: EffectImage, Fail: "prepare"})
	}
	if task.baselineDue() {
		add(Effect{Key: "baseline " + id, Kind: EffectBaseline, Fail: "baseline"})
	}
	if task.Status == StatusDecomposing && s.mayPlan(task) && task.isAlone() {
		add(Effect{Key: "alone " + id, Kind: EffectCommand, Command: BeginAlone{task.ID}, Fail: "plan"})
	}
	if run := s.dueRun(task, Manager, ""); run != "" {
		add(Effect{Key: "manage " + string(run), Kind: EffectManage, Run: run, Claim: s.claimBy(Manager, run, task.Head),
			Fail: "plan"})
	}
	if s.planStands(task) && s.mayWork(task) {
		for _, sub := range task.Subtasks {
			switch {
			case !task.IsReady(sub):
			case sub.Paused:
				s.dueSubtask(func(effect Effect) {
					if r := task.Runs[effect.Run]; r != nil && r.Held {
						effect.Drain = true
						add(effect)
					}
				}, task, sub)
			default:
				s.dueSubtask(add, task, sub)
			}
		}
		if e, ok := s.dueMerge(task); ok {
			add(e)
		}
	}
	if task.Status == StatusReviewing {
		switch {
		case s.gateDue(task):
			add(Effect{Key: "gate " + id + " " + string(task.Head), Kind: EffectGate, Fail: "gate"})
		case !task.gatePassed():
		case s.dueRun(task, Reviewer, "") != "":
			run := s.dueRun(task, Reviewer, "")
			add(Effect{Key: "review " + string(run), Kind: EffectReview, Run: run, Claim: s.claimBy(Reviewer, run, task.Head),
				Fail: "review"})
		case s.canDeliver(task) && (task.Delivery == nil || task.Delivery.Head != task.Head):
			add(Effect{Key: "intend " + id, Kind: EffectCommand, Command: IntendDelivery{task.ID}, Fail: intendFailure})
		case s.canDeliver(task) && !s.isPushHeld(task):
			add(Effect{Key: "deliver " + id + " " + string(task.Head), Kind: EffectDeliver, Fail: deliverFailure})
		}
	}
	return out
}

func (s *State) dueSubtask(add func(Effect), task *Task, sub *Subtask) {
	id := string(sub.ID)
	// The offer is recorded in the ledger first. The enqueue effect then puts it on the queue, and is due until the run is
	// claimed.
	offer := func(run RunID, offers int) {
		o := OfferID{Run: run, Epoch: s.Office.Epoch, Number: offers + 1}
		add(Effect{Key: "offer " + o.String(), Kind: EffectCommand, Subtask: sub.ID, Run: run, Command: Offer{run},
			Fail: "run " + id})
	}
	switch sub.Status {
	case SubtaskPending:
		if sub.Escalation == "" {
			offer(NewRunID(task.ID, sub.ID, Worker, sub.Started+1), 0)
		}
	case SubtaskAssigned:
		switch r := task.Runs[sub.Current]; {
		case r == nil:
		case s.onOffer(r):
			o := OfferID{Run: r.ID, Epoch: r.Offered, Number: r.Offers}
			add(Effect{Key: "enqueue " + o.String(), Kind: EffectEnqueue, Subtask: sub.ID, Run: r.ID, Offer: o,
				Fail: "run " + id})
		default:
			offer(r.ID, r.Offers)
		}
	case SubtaskRunning:
		if r := task.Runs[sub.Current]; r != nil && r.Held {
			add(Effect{Key: "work " + string(r.ID), Kind: EffectWork, Subtask: sub.ID, Run: r.ID, Fail: "run " + id})
		}
	case SubtaskInGate:
		if !s.awaitsUnreadVerdict(task, sub.headGateResult()) && !task.awaitsRedGreen(sub) {
			add(Effect{Key: "gate " + id + " " + string(sub.Head), Kind: EffectGate, Subtask: sub.ID, Fail: "gate " + id})
		}
	case SubtaskReviewing, SubtaskBlocked:
		fail := "review " + id
		if sub.Status == SubtaskBlocked {
			fail = summaryFailure(sub)
		}
		if run := s.dueRun(task, Reviewer, sub.ID); run != "" {
			add(Effect{Key: "review " + string(run), Kind: EffectReview, Subtask: sub.ID, Run: run,
				Claim: s.claimBy(Reviewer, run, task.Head), Fail: fail})
		}
	case SubtaskMerging:
		if run := s.dueRun(task, Merger, sub.ID); run != "" {
			add(Effect{Key: "resolve " + string(run), Kind: EffectResolve, Subtask: sub.ID, Run: run,
				Claim: s.claimBy(Merger, run, sub.Conflict.Onto), Fail: "resolve " + id})
		}
	}
}

// claimBy returns the claim of a run by one of the company's own agents, starting from the commit from.
func (s *State) claimBy(role Role, run RunID, from OID) Claim {
	return Claim{Run: run, Epoch: s.Office.Epoch, Worker: string(role), From: from}
}

// NextDue returns the time at which Due changes without an event: the earliest retry or deadline after now. Zero means
// that only an event can change it.
func NextDue(state *State, now time.Time) time.Time {
	next := state.Spending.endsAfter(now)
	for _, id := range state.Open {
		next = earliestAfter(time.Time{}, next, nextChange(state.Tasks[id], now))
	}
	return next
}

// nextChange returns the time at which the effects of a task change without an event. Zero means never.
func nextChange(task *Task, now time.Time) time.Time {
	var next time.Time
	for key, failure := range task.Failures {
		if !task.retriesExhausted(key, failure) {
			next = earliestAfter(now, next, failure.NotBefore)
		}
	}
	for _, run := range task.Runs {
		if run.Held {
			next = earliestAfter(now, next, run.Deadline)
		}
	}
	return next
}

// earliestAfter returns the earlier of next and at. It ignores at if it is not after now, and a zero next.
func earliestAfter(now, next, at time.Time) time.Time {
	if at.After(now) && (next.IsZero() || at.Before(next)) {
		return at
	}
	return next
}

// Failure keys of commands and of the delivery.
const (
	tickFailure       = "tick"
	intendFailure     = "intend"
	deliverFailure    = "deliver"
	askTroubleFailure = "ask trouble"
)

// askFailure returns the failure key of a question that cannot be asked. Such a failure causes a question itself, so
// all questions about failures share one key. That prevents an endless chain.
func askFailure(kind ApprovalKind, key string) string {
	if kind == AskTrouble {
		return askTroubleFailure
	}
	return "ask " + key
}

// ReportEffectFailure reports that an effect failed.
type ReportEffectFailure struct {
	Task TaskID
	Key  string // Effect.Fail
	EffectFailed
}

// EffectFailed records a failed effect. The effect is retried later.
type EffectFailed struct {
	EffectKey string `json:"fail"`
	Code      Code   `json:"code"`
	Error     string `json:"error"`
	Hint      string `json:"hint,omitempty"`
	Human     bool   `json:"human,omitempty"`
	// Line is a config line that fixes the problem, with the file that it would be written to.
	Line *ConfigLine `json:"line,omitempty"`
}

var _ = registerKind[EffectFailed]()

func (c ReportEffectFailure) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if c.Key == "" {
		return nil, E(EInvalid, "a failed effect needs its key")
	}
	c.EffectFailed.EffectKey = c.Key
	return []Event{meta.newEvent(task.ID, "", "", c.EffectFailed.truncated())}, nil
}

// maxFailureText limits the stored text of a failure, in bytes. A text that the ledger could not hold would prevent the
// failure from being counted. Its effect would then be retried at once, forever.
const maxFailureText = 16 << 10

func (d EffectFailed) truncated() *EffectFailed {
	d.Error = cutText(d.Error, maxFailureText)
	d.Hint = cutText(d.Hint, maxFailureText)
	d.Line = placedLine(d.Line)
	return &d
}

// cutText returns at most n bytes of s. It marks a cut with an ellipsis.
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

// countFailure counts a failure and schedules the next attempt after 1, 4, 16, 64 s and so on, at most 5 min.
func (t *Task) countFailure(key string, now time.Time, effectFailed EffectFailed) {
	failure := t.Failures[key]
	failure.Attempt++
	wait := time.Second << min(2*(failure.Attempt-1), 10)
	failure.NotBefore = now.Add(min(wait, 5*time.Minute))
	failure.Code = effectFailed.Code
	failure.Error = effectFailed.Error
	failure.Hint = effectFailed.Hint
	failure.NeedsPerson = effectFailed.Human
	failure.Line = effectFailed.Line
	t.Failures[key] = failure
}

// retriesExhausted reports whether only the president can order another attempt. It is false for askTroubleFailure: the
// president cannot be asked about that, so it is retried forever.
func (t *Task) retriesExhausted(key string, f Failure) bool {
	return key != askTroubleFailure && (f.NeedsPerson || f.Attempt > t.Settings.EffectRetries)
}

// NextRetry returns the time of the task's earliest scheduled retry. It is zero if no retry is scheduled.
func NextRetry(state *State, id TaskID, now time.Time) time.Time {
	var next time.Time
	if task := state.Tasks[id]; task != nil {
		for key, failure := range task.Failures {
			if !task.retriesExhausted(key, failure) && failure.NotBefore.After(now) &&
				(next.IsZero() || failure.NotBefore.Before(next)) {
				next = failure.NotBefore
			}
		}
	}
	return next
}
