package company

import (
	"slices"
	"strings"
	"unicode"

	"company/internal/glob"
)

// HistoryChecker sees every event of a ledger, in order, with the state before and
// after it, and asserts what the design promises of how a company works: what
// no single state can show. It keeps its own books from the events alone and
// does not believe the state's. The zero value has seen nothing; it must see a
// ledger from its first event on.
type HistoryChecker struct {
	epoch   uint64
	stopped bool
	tasks   map[TaskID]*observedTask
	asked   map[ApprovalID]ApprovalOpened
	lacks   map[TaskID]map[string]bool // files that could not be written
	yes     map[string]bool            // keys of approved questions
}

// observedTask is the checker's own record of one task.
type observedTask struct {
	settings  Settings
	prepared  *TaskPrepared
	base      *GateResult // the baseline
	dryRun    bool
	ended     bool
	planned   RunID
	waves     []int // by subtask: its wave
	head      OID
	trees     map[OID]OID                // by integration head: its tree
	green     map[OID]bool               // trees with a good verdict
	whole     map[OID]OID                // by integration head: the tree of its good verdict
	reviewing map[OID]bool               // integration heads that were reviewed as a whole
	approved  map[string]bool            // (subtask, head) that stand approved or waived
	judged    map[string]*ReviewRecorded // approvals of tickets by (subtask, head)
	carried   OID                        // integration head that the approval of the only ticket is to hold for, next
	merged    map[SubtaskID]OID
	protected map[SubtaskID]bool     // its head changes paths that need the president
	changes   map[SubtaskID][]Change // of its head
	created   map[string]bool        // paths that merged subtasks of the task added
	intent    *MergeIntentRecorded
	runs      map[RunID]*observedRun
	cap       Amount
	spent     Amount
	overdrawn bool // a run spent more than it was granted: the cap is no promise any more
	prs       int
	follows   TaskID              // the task whose pull request it works on, at last
	settled   bool                // its pull request is merged or closed
	branch    BranchChange        // of its open pull request, as recorded last
	added     map[Dependency]bool // names of dependencies
	lookedUp  map[Dependency]bool // names that went out
}

type observedRun struct {
	held     bool
	ended    bool
	offered  uint64 // epoch of the offer that a worker may take up; 0: there is none
	fence    uint64
	reserved Amount
	refused  map[string]int // events by kind
}

// Replay folds a ledger into a state with a history checker beside it, and
// checks the invariants after every event. The error names the event that broke
// one.
func Replay(events []Event) (*State, error) {
	s, w := NewState(), &HistoryChecker{}
	for _, e := range events {
		before := s.View()
		if err := Apply(s, e); err != nil {
			return s, err
		}
		if err := w.Observe(before, e, s); err != nil {
			return s, err
		}
		if err := CheckInvariants(s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Observe looks at one event. before must be a View: Apply makes after out of it.
func (w *HistoryChecker) Observe(before *State, e Event, after *State) error {
	d, err := Decode(e)
	if err != nil {
		return err
	}
	if w.tasks == nil {
		w.tasks, w.asked, w.yes = map[TaskID]*observedTask{}, map[ApprovalID]ApprovalOpened{}, map[string]bool{}
	}
	if w.stopped && isEffect(d) {
		return invariantError("event %d: %s after the stop", e.Seq, e.Kind)
	}
	if err := w.observeOffice(d, e); err != nil {
		return err
	}
	if err := w.observeTransitions(before, e, after); err != nil {
		return err
	}
	t := w.tasks[e.Task]
	if e.Task == "" {
		return nil
	}
	if t == nil {
		return invariantError("event %d: %s about %s, which was never submitted", e.Seq, e.Kind, e.Task)
	}
	if e.Subtask != "" {
		if at := after.Tasks[e.Task].Subtask(e.Subtask); at == nil || e.Subtask.Task() != e.Task {
			return invariantError("event %d: %s is an orphan", e.Seq, e.Subtask) // SUB-9
		}
	}
	if _, carries := d.(*ReviewCarried); t.carried != "" && !carries {
		return invariantError("event %d: %s after the merge of the only ticket, whose approval holds for the whole", e.Seq, e.Kind)
	}
	for _, see := range []func(*observedTask, Data, Event) error{w.observePlan, w.observeRun, w.seeVerdict, w.seeMerge, w.seeEnd} {
		if err := see(t, d, e); err != nil {
			return err
		}
	}
	return t.checkSpending(e, after.Tasks[e.Task])
}

// isEffect says whether an event begins something in the world, or goes on with
// it. A holder's result at the end is none, and a person may always act.
func isEffect(d Data) bool {
	switch d.(type) {
	case *RunOffered, *RunClaimed, *BudgetReserved, *BudgetWaiting, *BudgetExhausted, *MergeIntentRecorded, *MergeGated, *ConflictReported,
		*GateFinished, *DependencyAdded, *DependencyLookedUp, *DeliveryIntended, *DeliveryHeld, *PROpened, *TaskPrepared, *BaselineRecorded, *TaskSubmitted, *EffectFailed, *ReviewVoided:
		return true
	}
	return false
}

func (w *HistoryChecker) observeOffice(d Data, e Event) error {
	switch d := d.(type) {
	case *OfficeStarted:
		if d.Epoch != w.epoch+1 {
			return invariantError("event %d: epoch %d follows epoch %d", e.Seq, d.Epoch, w.epoch)
		}
		w.epoch = d.Epoch
		w.voidClaims()
	case *OfficeCopied:
		w.voidClaims()
	case *OfficeStopped:
		w.stopped = true
	case *OfficeResumed:
		w.epoch, w.stopped = d.Epoch, false
		w.voidClaims()
	case *TaskSubmitted:
		if w.tasks[e.Task] != nil {
			return invariantError("event %d: %s was submitted already", e.Seq, e.Task)
		}
		w.tasks[e.Task] = &observedTask{
			settings: d.Settings, dryRun: d.DryRun, follows: w.prTask(d.Follows), cap: d.Settings.Cap, trees: map[OID]OID{}, green: map[OID]bool{},
			whole: map[OID]OID{}, reviewing: map[OID]bool{}, approved: map[string]bool{}, judged: map[string]*ReviewRecorded{}, merged: map[SubtaskID]OID{},
			protected: map[SubtaskID]bool{}, changes: map[SubtaskID][]Change{}, created: map[string]bool{}, added: map[Dependency]bool{}, lookedUp: map[Dependency]bool{}, runs: map[RunID]*observedRun{},
		}
	case *FileWriteFailed, *FileWriteRecovered:
		return w.observeFile(d, e)
	case *ApprovalOpened:
		w.asked[d.ID] = *d
	case *ApprovalAnswered:
		q, ok := w.asked[d.ID]
		if !ok {
			return invariantError("event %d: %s was never asked or is answered twice", e.Seq, d.ID)
		}
		delete(w.asked, d.ID)
		w.yes[q.Key] = d.Option == OptApprove
	}
	return nil
}

// prTask is the task that opened the pull request which a task works on.
func (w *HistoryChecker) prTask(id TaskID) TaskID {
	if t := w.tasks[id]; t != nil && t.follows != "" {
		return t.follows
	}
	return id
}

// observeFile: a missing file is recorded once, until it is there.
func (w *HistoryChecker) observeFile(d Data, e Event) error {
	if w.lacks == nil {
		w.lacks = map[TaskID]map[string]bool{}
	}
	lacks := w.lacks[e.Task]
	if lacks == nil {
		lacks = map[string]bool{}
		w.lacks[e.Task] = lacks
	}
	switch d := d.(type) {
	case *FileWriteFailed:
		if lacks[d.File] || d.Why == "" || len(lacks) >= MaxUnwritten {
			return invariantError("event %d: %s is told to be unwritten twice, for no reason, or after too many others", e.Seq, d.File)
		}
		lacks[d.File] = true
	case *FileWriteRecovered:
		if !lacks[d.File] {
			return invariantError("event %d: %s was never missed", e.Seq, d.File)
		}
		delete(lacks, d.File)
	}
	return nil
}

func (w *HistoryChecker) voidClaims() {
	for _, t := range w.tasks {
		for _, r := range t.runs {
			r.held = false
		}
	}
}

// observeTransitions holds the moves of an event against the tables, and a task's phase
// to one step forward at a time (STA-1, STA-5).
func (w *HistoryChecker) observeTransitions(before *State, e Event, after *State) error {
	t, was := after.Tasks[e.Task], before.Tasks[e.Task]
	if t == nil || was == nil {
		if t != nil && t.Status != StatusPending {
			return invariantError("event %d: %s begins as %s", e.Seq, e.Task, t.Status)
		}
		return nil
	}
	if t.Status != was.Status && !slices.Contains(TaskMoves[was.Status], t.Status) {
		return invariantError("event %d: %s moves from %s to %s", e.Seq, t.ID, was.Status, t.Status)
	}
	for _, sub := range was.Subtasks {
		now := t.Subtask(sub.ID)
		switch {
		case now == nil && (sub.Started > 0 || t.Status != StatusDecomposing):
			return invariantError("event %d: %s was begun and is gone", e.Seq, sub.ID)
		case now != nil && now.Status != sub.Status && !slices.Contains(SubMoves[sub.Status], now.Status):
			return invariantError("event %d: %s moves from %s to %s", e.Seq, sub.ID, sub.Status, now.Status)
		}
	}
	for _, sub := range t.Subtasks {
		if was.Subtask(sub.ID) == nil && sub.Status != SubtaskPending {
			return invariantError("event %d: %s begins as %s", e.Seq, sub.ID, sub.Status)
		}
	}
	from, to := slices.Index(Phases, was.Phase()), slices.Index(Phases, t.Phase())
	if to > from+1 && !t.Status.Ended() {
		return invariantError("event %d: %s skips from %s to %s", e.Seq, t.ID, was.Phase(), t.Phase())
	}
	if t.Status == StatusReviewing && was.Status != StatusReviewing {
		seen := w.tasks[e.Task].reviewing
		if seen[t.Head] {
			return invariantError("event %d: %s is reviewed twice at %s", e.Seq, t.ID, t.Head.Short()) // STA-2
		}
		seen[t.Head] = true
	}
	return nil
}

func (w *HistoryChecker) observePlan(t *observedTask, d Data, e Event) error {
	switch d := d.(type) {
	case *TaskPrepared:
		if t.prepared != nil {
			return invariantError("event %d: %s is prepared twice", e.Seq, e.Task)
		}
		if err := refuseProtectedBranch(d.Integration); err != nil {
			return invariantError("event %d: work would be merged to %s", e.Seq, d.Integration)
		}
		t.prepared, t.head = d, d.Base.OID
	case *BaselineRecorded:
		return t.seeBaseline(d, e)
	case *PlanAccepted:
		if t.prepared == nil || len(t.prepared.Gates) > 0 && t.base == nil || !w.untestedAllowed(t, e.Task) && !t.hasGates() {
			return invariantError("event %d: a plan before it is known what the gates are", e.Seq)
		}
		t.planned, t.waves = e.Run, nil
		for i, wave := range d.Plan.Waves {
			if err := checkDisjointWrites(wave); err != nil {
				return invariantError("event %d: wave %d: %s", e.Seq, i+1, err)
			}
			for range wave.Subtasks {
				t.waves = append(t.waves, i+1)
			}
		}
	}
	return nil
}

// mechanical are files that two subtasks of one wave could both write in plans
// of older versions, as if they were made anew after the merge.
var mechanical = mustGlobs(
	"**/go.sum", "**/go.work.sum", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/pnpm-lock.yaml",
	"**/yarn.lock", "**/bun.lock", "**/Cargo.lock", "**/poetry.lock", "**/uv.lock", "**/Pipfile.lock",
	"**/Gemfile.lock", "**/composer.lock",
	"**/*.generated.*", "**/*_generated.go", "**/*.pb.go",
)

// checkDisjointWrites: no two subtasks of a wave may write the same file.
func checkDisjointWrites(wave Wave) error {
	budget := planOverlapBudget
	for i, a := range wave.Subtasks {
		for _, b := range wave.Subtasks[:i] {
			for _, x := range a.WriteSet {
				for _, y := range b.WriteSet {
					gx, err1 := parseGlob(x)
					gy, err2 := parseGlob(y)
					if err1 != nil || err2 != nil {
						return invariantError("a write set that cannot be read")
					}
					if _, both := glob.CommonPath(gx, gy, &budget); both && !gx.IsWithin(mechanical) && !gy.IsWithin(mechanical) {
						return invariantError("two write sets meet: %s and %s", x, y)
					}
				}
			}
		}
	}
	return nil
}

func (w *HistoryChecker) untestedAllowed(t *observedTask, id TaskID) bool {
	return t.settings.NoGates == "allow" || w.yes["no_gates "+string(id)]
}

func (w *HistoryChecker) observeRun(t *observedTask, d Data, e Event) error {
	r := t.runs[e.Run]
	switch d := d.(type) {
	case *RunOffered:
		if r != nil && (r.held || r.ended) {
			return invariantError("event %d: %s is offered while it is held or ended", e.Seq, e.Run)
		}
		if t.settings.Plan == Ask && !w.yes["plan "+string(t.planned)] {
			return invariantError("event %d: work on a plan that the president has not approved", e.Seq)
		}
		if err := t.checkWave(e); err != nil {
			return err
		}
		if r == nil {
			r = &observedRun{}
			t.runs[e.Run] = r
		}
		r.offered = d.Epoch
	case *RunClaimed:
		if d.Role == Reviewer && e.Subtask == "" && t.approved[" "+string(t.head)] {
			return invariantError("event %d: %s is to review %s, which is approved", e.Seq, e.Run, t.head.Short())
		}
		if r == nil {
			r = &observedRun{}
			t.runs[e.Run] = r
		}
		if r.held || r.ended || d.Fence <= r.fence || d.Worker == "" || !d.Deadline.After(e.Time) {
			return invariantError("event %d: %s is claimed while it is held, or without owner, deadline or a higher fence", e.Seq, e.Run)
		}
		if d.Role == Worker && (r.offered == 0 || r.offered != w.epoch) {
			return invariantError("event %d: %s is claimed without an offer of epoch %d", e.Seq, e.Run, w.epoch)
		}
		if err := t.checkWave(e); err != nil {
			return err
		}
		r.held, r.offered, r.fence = true, 0, d.Fence
	case *RunReleased:
		if r == nil || !r.held {
			return invariantError("event %d: %s is let go by nobody", e.Seq, e.Run)
		}
		r.held = false
	case *RunEnded:
		if r == nil || !r.held && (r.ended || !t.ended) { // what its task has left behind is settled
			return invariantError("event %d: %s ends in nobody's hands", e.Seq, e.Run)
		}
		t.overdrawn = t.overdrawn || d.Spent.MicroUSD > r.reserved.MicroUSD || d.Spent.Tokens > r.reserved.Tokens
		r.held, r.ended, r.reserved = false, true, Amount{}
		t.spent = t.spent.Add(d.Spent)
		if d.Head != "" {
			rules := PlanRules{Protected: t.settings.Protected}
			t.protected[e.Subtask] = slices.ContainsFunc(d.Changes, func(c Change) bool {
				return rules.isProtected(c.Path) || t.settings.Rules >= 1 && changesGuardedCode(c)
			})
			t.changes[e.Subtask] = d.Changes
		}
	case *AccessRefused:
		return r.observeRefusedAccess(d, e)
	case *DependencyLookedUp:
		if r == nil || !r.held {
			return invariantError("event %d: %s looks a name up in nobody's hands", e.Seq, e.Run)
		}
		if t.lookedUp[Dependency{Ecosystem: d.Ecosystem, Name: d.Name}] = true; len(t.lookedUp) > MaxLookups {
			return invariantError("event %d: %s looks up more than %d names", e.Seq, e.Task, MaxLookups)
		}
	case *DependencyAdded:
		if r == nil || !r.held {
			return invariantError("event %d: %s adds a dependency in nobody's hands", e.Seq, e.Run)
		}
		name := Dependency{Ecosystem: d.Ecosystem, Name: d.Name}
		if !t.lookedUp[name] {
			return invariantError("event %d: %s is added and was never looked up", e.Seq, d.Dependency)
		}
		if t.settings.Deps == Ask && !w.yes[DependencyKey(e.Task, name)] && !w.yes[DependencyKey(e.Task, d.Dependency)] {
			return invariantError("event %d: %s is added without the president's leave", e.Seq, d.Dependency)
		}
		if t.added[name] = true; len(t.added) > MaxDependencies {
			return invariantError("event %d: %s adds more than %d dependencies", e.Seq, e.Task, MaxDependencies)
		}
	case *BudgetReserved:
		if r == nil || !r.held {
			return invariantError("event %d: money for %s, which nobody holds", e.Seq, e.Run)
		}
		r.reserved = r.reserved.Add(d.Amount)
	case *BudgetWaiting:
		r.reserved = r.reserved.Sub(d.Back)
	case *BudgetRaised:
		t.cap = t.cap.Raise(d.By)
	}
	return nil
}

// observeRefusedAccess: a refused access is recorded of a run that was begun,
// in plain text, and not without end.
func (r *observedRun) observeRefusedAccess(d *AccessRefused, e Event) error {
	if r == nil || r.fence == 0 {
		return invariantError("event %d: %s reached for something before anybody worked in it", e.Seq, e.Run)
	}
	if r.refused == nil {
		r.refused = map[string]int{}
	}
	r.refused[d.AccessKind]++
	switch {
	case d.Times < 1 || !kindOfRefusal(d.AccessKind):
		return invariantError("event %d: a refused access of kind %q, %d times", e.Seq, d.AccessKind, d.Times)
	case r.refused[d.AccessKind] > MaxRefusedEvents || len(r.refused) > MaxRefusedKinds:
		return invariantError("event %d: %s fills the ledger with refused accesses", e.Seq, e.Run)
	case len(d.What) > MaxRefusedText || strings.ContainsFunc(d.What, func(c rune) bool { return !unicode.IsPrint(c) }):
		return invariantError("event %d: what was refused is no plain line: %q", e.Seq, d.What)
	}
	return nil
}

// checkWave: a run of a subtask only when all of the earlier waves are merged.
func (t *observedTask) checkWave(e Event) error {
	if e.Subtask == "" {
		return nil
	}
	for i := range t.waves {
		sub := NewSubtaskID(e.Task, i+1)
		if sub == e.Subtask {
			return nil
		}
		if own := t.waveOf(e); t.waves[i] < own && t.merged[sub] == "" {
			return invariantError("event %d: %s of wave %d while %s of wave %d is not merged", e.Seq, e.Run, own, sub, t.waves[i])
		}
	}
	return nil // a repair: it comes after all that was planned
}

func (t *observedTask) waveOf(e Event) int {
	for i, wave := range t.waves {
		if NewSubtaskID(e.Task, i+1) == e.Subtask {
			return wave
		}
	}
	return len(t.waves) + 1
}

// checkSpending: spent and reserved amounts fit under the cap at every event,
// and the state's books are these.
func (t *observedTask) checkSpending(e Event, at *Task) error {
	used := t.spent
	for _, r := range t.runs {
		used = used.Add(r.reserved)
	}
	switch {
	case at.Cap != t.cap:
		return invariantError("event %d: the cap of %s is %s, its books say %s", e.Seq, e.Task, t.cap, at.Cap)
	case at.Spent.Add(at.Reserved()) != used:
		return invariantError("event %d: %s has used %s, its books say %s", e.Seq, e.Task, used, at.Spent.Add(at.Reserved()))
	case !t.overdrawn && !used.Within(t.cap):
		return invariantError("event %d: %s has used %s of %s", e.Seq, e.Task, used, t.cap)
	}
	return nil
}

// Held reports whether the run is held under this fence, by the events alone:
// only then may a command of its holder change anything.
func (w *HistoryChecker) Held(id RunID, fence uint64) bool {
	t := w.tasks[id.Task()]
	if t == nil {
		return false
	}
	r := t.runs[id]
	return r != nil && r.held && r.fence == fence
}
