package historytest

import (
	"errors"
	"fmt"
	"slices"

	"company/internal/company"
	"company/internal/company/glob"
)

func (c *Checker) observePlan(t *observedTask, d company.Data, event company.Event) error {
	switch d := d.(type) {
	case *company.TaskBased:
		return t.observeBase(d, event)
	case *company.TaskPrepared:
		return t.observePreparation(d, event)
	case *company.NeedsAdded:
		return t.observeNeeds(d, event)
	case *company.BaselineRecorded:
		return t.observeBaseline(d, event)
	case *company.PlanAccepted:
		if t.prepared == nil || len(t.prepared.Gates) == 0 && !c.untestedAllowed(t, event.Task) {
			return errors.New("a plan before it is known what the gates are")
		}
		if event.Run == "" && (!t.mayGoAlone() || !d.Plan.IsAlone()) {
			return errors.New("a plan that no manager made")
		}
		t.hasPlan = true
		t.planned = event.Run
		t.waves = nil
		t.after = nil
		if t.alone = ""; event.Run == "" {
			t.alone = company.NewSubtaskID(event.Task, 1)
		}
		for i, wave := range d.Plan.Waves {
			if err := t.checkSizes(wave.Subtasks); err != nil {
				return fmt.Errorf("wave %d: %w", i+1, err)
			}
			for _, s := range wave.Subtasks {
				t.waves, t.after = append(t.waves, i+1), append(t.after, idsOf(s.After))
			}
		}
		if err := t.checkCount(); err != nil {
			return err
		}
		first := 1
		for i, wave := range d.Plan.Waves {
			if err := t.checkAfter(event.Task, i+1); err != nil {
				return fmt.Errorf("wave %d: %w", i+1, err)
			}
			if err := t.checkDisjointWrites(event.Task, first, wave); err != nil {
				return fmt.Errorf("wave %d: %w", i+1, err)
			}
			first += len(wave.Subtasks)
		}
	case *company.SubtaskReplanned:
		return t.observeReplan(d, event)
	}
	return nil
}

// observeReplan checks that merged tickets are not replanned. It records the parts in place of the subtask, also for
// the subtasks that come after it.
func (t *observedTask) observeReplan(replanned *company.SubtaskReplanned, event company.Event) error {
	if t.merged[event.Subtask] != "" || len(replanned.Added) != len(replanned.Parts)-1 {
		return fmt.Errorf("%s is merged, or replanned without its parts", event.Subtask)
	}
	if event.Subtask == t.alone {
		t.alone = ""
	}
	wave := t.waves[t.makePlace(event.Task, event.Subtask)]
	for i := range t.after {
		if slices.Contains(t.after[i], event.Subtask) {
			t.after[i] = append(slices.Clone(t.after[i]), replanned.Added...)
		}
	}
	for i, id := range append([]company.SubtaskID{event.Subtask}, replanned.Added...) {
		place := t.makePlace(event.Task, id)
		t.waves[place], t.after[place] = wave, idsOf(replanned.Parts[i].After)
	}
	if err := t.checkSizes(replanned.Parts); err != nil {
		return fmt.Errorf("the parts of %s: %w", event.Subtask, err)
	}
	if err := t.checkCount(); err != nil {
		return err
	}
	return t.checkAfter(event.Task, wave)
}

// makePlace returns the place of a subtask and creates it if needed. Repairs, which are in no plan, come after all
// planned subtasks.
func (t *observedTask) makePlace(task company.TaskID, id company.SubtaskID) int {
	for t.placeOf(task, id) < 0 {
		t.waves, t.after = append(t.waves, len(t.waves)+1), append(t.after, nil)
	}
	return t.placeOf(task, id)
}

func idsOf(texts []string) []company.SubtaskID {
	var ids []company.SubtaskID
	for _, text := range texts {
		ids = append(ids, company.SubtaskID(text))
	}
	return ids
}

// checkAfter checks that the subtasks named in after are in the plan and in no later wave, and that they form no cycle.
func (t *observedTask) checkAfter(task company.TaskID, wave int) error {
	for i := range t.waves {
		sub := company.NewSubtaskID(task, i+1)
		if t.waves[i] != wave {
			continue
		}
		for _, id := range t.after[i] {
			if j := t.placeOf(task, id); j < 0 || t.waves[j] > wave {
				return fmt.Errorf("%s comes after %s, which is in no wave up to its own", sub, id)
			}
		}
		if t.comesBefore(task, sub, sub) {
			return fmt.Errorf("%s comes after itself", sub)
		}
	}
	return nil
}

// placeOf returns the place of a subtask in its plan, from 0, or a negative number if it has none.
func (t *observedTask) placeOf(task company.TaskID, id company.SubtaskID) int {
	for i := range t.waves {
		if company.NewSubtaskID(task, i+1) == id {
			return i
		}
	}
	return -1
}

// comesBefore reports whether the second subtask comes after the first, directly or indirectly.
func (t *observedTask) comesBefore(task company.TaskID, first, second company.SubtaskID) bool {
	seen := map[company.SubtaskID]bool{}
	next := []company.SubtaskID{second}
	for len(next) > 0 {
		i := t.placeOf(task, next[0]) // checkAfter has found it
		next = next[1:]
		for _, id := range t.after[i] {
			if id == first {
				return true
			}
			if !seen[id] {
				seen[id] = true
				next = append(next, id)
			}
		}
	}
	return false
}

// observeBase checks that a base moves only until the image is built. It drops a plan for another base.
func (t *observedTask) observeBase(taskBased *company.TaskBased, event company.Event) error {
	if t.prepared != nil && t.prepared.Image != "" {
		return fmt.Errorf("%s gets another base after its image", event.Task)
	}
	if isMainBranch(taskBased.Integration) {
		return fmt.Errorf("work would be merged to %s", taskBased.Integration)
	}
	if t.head != taskBased.Base.OID {
		t.hasPlan = false
		t.planned = ""
		t.alone = ""
		t.waves = nil
		t.after = nil
	}
	t.prepared, t.head = &company.TaskPrepared{Base: taskBased.Base, Gates: taskBased.Gates, GateHash: taskBased.GateHash,
		Integration: taskBased.Integration}, taskBased.Base.OID
	return nil
}

// observePreparation checks that an image is built once, for the recorded base.
func (t *observedTask) observePreparation(taskPrepared *company.TaskPrepared, event company.Event) error {
	switch was := t.prepared; {
	case taskPrepared.Image == "":
		return fmt.Errorf("%s is prepared without an image", event.Task)
	case isMainBranch(taskPrepared.Integration):
		return fmt.Errorf("work would be merged to %s", taskPrepared.Integration)
	case was == nil: // the event contains the base too
	case was.Image != "":
		return fmt.Errorf("%s is prepared twice", event.Task)
	case was.Base.OID != taskPrepared.Base.OID || was.GateHash != taskPrepared.GateHash ||
		was.Integration != taskPrepared.Integration ||
		len(was.Gates) != len(taskPrepared.Gates):
		return fmt.Errorf("%s is prepared for another base than its own", event.Task)
	}
	t.prepared, t.head = taskPrepared, taskPrepared.Base.OID
	return nil
}

// mayGoAlone reports whether one worker may have the whole instruction: on request, or in auto mode if the president
// does not read plans and the task is not a follow-up. A dry run always needs a plan.
func (t *observedTask) mayGoAlone() bool {
	set := t.settings
	return !t.dryRun && (set.Way == company.WayOne ||
		set.Way == company.WayAuto && set.Plan != company.Ask && t.follows == "")
}

// observeOffer checks that a worker begins only with a plan, an image and a known baseline. There must also be a gate,
// or permission to work without checks.
func (c *Checker) observeOffer(t *observedTask, event company.Event) error {
	switch {
	case t.prepared == nil || t.prepared.Image == "":
		return fmt.Errorf("%s is offered before there is an image", event.Run)
	case !t.hasPlan:
		return fmt.Errorf("%s is offered before there is a plan", event.Run)
	case len(t.prepared.Gates) > 0 && t.base == nil:
		return fmt.Errorf("%s is offered before its base is judged", event.Run)
	case !t.hasGates() && !c.untestedAllowed(t, event.Task):
		return fmt.Errorf("%s is offered before it is known that there is a gate", event.Run)
	}
	return nil
}

// observeNeeds checks that servers and packages are added before the baseline is known. The image is then rebuilt.
func (t *observedTask) observeNeeds(d *company.NeedsAdded, event company.Event) error {
	if t.prepared == nil || t.prepared.Image == "" || t.base != nil || d.IsEmpty() {
		return fmt.Errorf("%s gets what no check of its base can have looked for", event.Task)
	}
	t.dropImage()
	return nil
}

// dropImage records that the image is rebuilt.
func (t *observedTask) dropImage() {
	taskPrepared := *t.prepared
	taskPrepared.Image = ""
	t.prepared = &taskPrepared
}

// repeatPreparation records that a new config line restarts the preparation: the image is rebuilt and the baseline
// taken again. It has no effect once workers may begin.
func (c *Checker) repeatPreparation(t *observedTask, id company.TaskID) {
	if t.prepared == nil {
		return
	}
	judged := t.prepared.Image != "" && (len(t.prepared.Gates) == 0 || t.base != nil)
	if judged && (t.hasGates() || c.untestedAllowed(t, id)) {
		return
	}
	t.dropImage()
	t.base = nil
}

// observeBaseline checks that the baseline is recorded once, after the image, for every pinned gate.
func (t *observedTask) observeBaseline(d *company.BaselineRecorded, event company.Event) error {
	gateResult := d.Result
	if t.prepared == nil || t.prepared.Image == "" || t.base != nil || len(gateResult.Checks) == 0 ||
		gateResult.GateHash != t.prepared.GateHash || len(gateResult.Checks) != len(t.prepared.Gates) {
		return fmt.Errorf("a baseline of %s that is none", event.Task)
	}
	for i, gateCheck := range gateResult.Checks {
		gateCommand := t.prepared.Gates[i]
		if gateCheck.Name != gateCommand.Name || gateCheck.Command != gateCommand.Command || gateCheck.Skipped ||
			gateCheck.Passed && (gateCheck.ExitCode != 0 || gateCheck.Absent) ||
			gateCheck.Absent && (gateCommand.Given || gateCommand.IsTest() && !gateCommand.Provisional) ||
			gateCheck.LeftOut && !(gateCheck.Absent && gateCommand.Provisional) {
			return fmt.Errorf("the baseline of %s proves nothing about %s", event.Task, gateCheck.Name)
		}
	}
	t.base = &gateResult
	return nil
}

// hasGates reports whether any pinned gate checks the work.
func (t *observedTask) hasGates() bool {
	for i := range t.prepared.Gates {
		if t.base == nil || !t.base.Checks[i].Absent {
			return true
		}
	}
	return false
}

func (c *Checker) untestedAllowed(t *observedTask, id company.TaskID) bool {
	return t.settings.NoGates == "allow" || c.yes["no_gates "+string(id)]
}

// maxOverlapSteps limits the search for a common path of two write sets of a plan, in pairs of positions.
const maxOverlapSteps = 1 << 22

// checkDisjointWrites checks that no two subtasks of a wave may write the same file, unless one comes after the other.
// first is the number of the wave's first subtask.
func (t *observedTask) checkDisjointWrites(task company.TaskID, first int, wave company.Wave) error {
	budget := maxOverlapSteps
	for i, subtask := range wave.Subtasks {
		for j, b := range wave.Subtasks[:i] {
			one, other := company.NewSubtaskID(task, first+i), company.NewSubtaskID(task, first+j)
			if t.comesBefore(task, one, other) || t.comesBefore(task, other, one) {
				continue
			}
			for _, x := range subtask.WriteSet {
				for _, y := range b.WriteSet {
					gx, err1 := glob.Parse(x)
					gy, err2 := glob.Parse(y)
					if err1 != nil || err2 != nil {
						return errors.New("a write set that cannot be read")
					}
					if _, both := glob.CommonPath(gx, gy, &budget); both {
						return fmt.Errorf("two write sets meet: %s and %s", x, y)
					}
				}
			}
		}
	}
	return nil
}
