package history

import (
	"errors"
	"fmt"
	"slices"

	"company/internal/company"
	"company/internal/glob"
)

func (c *Checker) observePlan(t *observedTask, d company.Data, e company.Event) error {
	switch d := d.(type) {
	case *company.TaskBased:
		return t.observeBase(d, e)
	case *company.TaskPrepared:
		return t.observePreparation(d, e)
	case *company.EarlyStart:
		return t.observeEarlyStart(d, e)
	case *company.ServicesRequired:
		return t.observeServices(d, e)
	case *company.BaselineRecorded:
		return t.observeBaseline(d, e)
	case *company.PlanAccepted:
		if t.prepared == nil || len(t.prepared.Gates) == 0 && !c.untestedAllowed(t, e.Task) {
			return errors.New("a plan before it is known what the gates are")
		}
		if e.Run == "" && (!t.mayGoAlone() || !d.Plan.IsAlone()) {
			return errors.New("a plan that no manager made")
		}
		t.hasPlan, t.planned, t.waves, t.after, t.does = true, e.Run, nil, nil, nil
		for i, wave := range d.Plan.Waves {
			if err := t.checkSizes(wave.Subtasks); err != nil {
				return fmt.Errorf("wave %d: %w", i+1, err)
			}
			for _, s := range wave.Subtasks {
				t.waves, t.after, t.does = append(t.waves, i+1), append(t.after, idsOf(s.After)), append(t.does, s.Does)
			}
		}
		if err := t.checkCount(); err != nil {
			return err
		}
		first := 1
		for i, wave := range d.Plan.Waves {
			if err := t.checkAfter(e.Task, i+1); err != nil {
				return fmt.Errorf("wave %d: %w", i+1, err)
			}
			if err := t.checkDisjointWrites(e.Task, first, wave); err != nil {
				return fmt.Errorf("wave %d: %w", i+1, err)
			}
			first += len(wave.Subtasks)
		}
	case *company.SubtaskReplanned:
		return t.observeReplan(d, e)
	}
	return nil
}

// observeReplan: merged tickets are not planned anew, and the parts stand in the place of the
// subtask, for those behind it too.
func (t *observedTask) observeReplan(d *company.SubtaskReplanned, e company.Event) error {
	if t.merged[e.Subtask] != "" || len(d.Parts) == 0 || len(d.Added) != len(d.Parts)-1 {
		return fmt.Errorf("%s is merged, or planned anew without its parts", e.Subtask)
	}
	wave := t.waves[t.makePlace(e.Task, e.Subtask)]
	for i := range t.after {
		if slices.Contains(t.after[i], e.Subtask) {
			t.after[i] = append(slices.Clone(t.after[i]), d.Added...)
		}
	}
	for i, id := range append([]company.SubtaskID{e.Subtask}, d.Added...) {
		place := t.makePlace(e.Task, id)
		t.waves[place], t.after[place], t.does[place] = wave, idsOf(d.Parts[i].After), d.Parts[i].Does
	}
	if err := t.checkSizes(d.Parts); err != nil {
		return fmt.Errorf("the parts of %s: %w", e.Subtask, err)
	}
	if err := t.checkCount(); err != nil {
		return err
	}
	return t.checkAfter(e.Task, wave)
}

// makePlace is the place of a subtask, which it has from here on. Repairs, which no plan has,
// come after all that was planned.
func (t *observedTask) makePlace(task company.TaskID, id company.SubtaskID) int {
	for t.placeOf(task, id) < 0 {
		t.waves, t.after, t.does = append(t.waves, len(t.waves)+1), append(t.after, nil), append(t.does, nil)
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

// checkAfter: what a subtask names in after is of the plan, of no later wave, and does not
// come after the subtask.
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

// placeOf is the place of a subtask in its plan, from 0; below 0: it has none.
func (t *observedTask) placeOf(task company.TaskID, id company.SubtaskID) int {
	for i := range t.waves {
		if company.NewSubtaskID(task, i+1) == id {
			return i
		}
	}
	return -1
}

// comesBefore says whether the first of two subtasks is reached from the second by what
// subtasks name in after.
func (t *observedTask) comesBefore(task company.TaskID, first, second company.SubtaskID) bool {
	seen := map[company.SubtaskID]bool{}
	next := []company.SubtaskID{second}
	for len(next) > 0 {
		i := t.placeOf(task, next[0])
		next = next[1:]
		if i < 0 {
			continue
		}
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

// observeBase: a base may move until the image is made, and what was planned on another
// one is given up.
func (t *observedTask) observeBase(d *company.TaskBased, e company.Event) error {
	if t.prepared != nil && (t.prepared.Image != "" || t.early) {
		return fmt.Errorf("%s gets another base after its image", e.Task)
	}
	if isMainBranch(d.Integration) {
		return fmt.Errorf("work would be merged to %s", d.Integration)
	}
	if t.head != d.Base.OID {
		t.hasPlan, t.planned, t.waves, t.after, t.does = false, "", nil, nil, nil
	}
	t.prepared, t.head = &company.TaskPrepared{Base: d.Base, Gates: d.Gates, GateHash: d.GateHash, Integration: d.Integration}, d.Base.OID
	return nil
}

// observePreparation: an image is made once, for the base that was found. Older versions
// found both at once.
func (t *observedTask) observePreparation(d *company.TaskPrepared, e company.Event) error {
	switch was := t.prepared; {
	case d.Image == "":
		return fmt.Errorf("%s is prepared without an image", e.Task)
	case isMainBranch(d.Integration):
		return fmt.Errorf("work would be merged to %s", d.Integration)
	case was == nil:
	case was.Image != "":
		return fmt.Errorf("%s is prepared twice", e.Task)
	case was.Base.OID != d.Base.OID || was.GateHash != d.GateHash || was.Integration != d.Integration || len(was.Gates) != len(d.Gates):
		return fmt.Errorf("%s is prepared for another base than its own", e.Task)
	}
	t.prepared, t.head = d, d.Base.OID
	return nil
}

// mayGoAlone: one worker has the instruction where that was asked for, or left to its length, nobody is to
// read a plan, and it follows no other task.
func (t *observedTask) mayGoAlone() bool {
	set := t.settings
	return !t.dryRun && (set.Way == company.WayOne || set.Way == company.WayAuto && set.Plan != company.Ask && t.follows == "")
}

// observeOffer: a worker begins when there are a plan and an image, when the base is judged or
// takes long to be, and when it is known that something will judge its work or that it may go
// unjudged.
func (c *Checker) observeOffer(t *observedTask, e company.Event) error {
	switch {
	case t.prepared == nil || t.prepared.Image == "" && t.earlyImage == "":
		return fmt.Errorf("%s is offered before there is an image", e.Run)
	case !t.hasPlan:
		return fmt.Errorf("%s is offered before there is a plan", e.Run)
	case t.early:
	case len(t.prepared.Gates) > 0 && t.base == nil:
		return fmt.Errorf("%s is offered before its base is judged", e.Run)
	case !t.hasGates() && !c.untestedAllowed(t, e.Task):
		return fmt.Errorf("%s is offered before it is known that there is a gate", e.Run)
	}
	return nil
}

// observeEarlyStart: workers begin before their base is judged from the task's own, and in an
// image.
func (t *observedTask) observeEarlyStart(d *company.EarlyStart, e company.Event) error {
	if t.prepared == nil || t.base != nil || d.Base != t.prepared.Base.OID || t.prepared.Image == "" && d.Image == "" {
		return fmt.Errorf("workers of %s begin early without a base or an image, or too late", e.Task)
	}
	t.early, t.earlyImage = true, d.Image
	return nil
}

// observeServices: servers are added before the base is judged, and the image is made anew with them.
func (t *observedTask) observeServices(d *company.ServicesRequired, e company.Event) error {
	if t.prepared == nil || t.prepared.Image == "" || t.base != nil || len(d.Services) == 0 {
		return fmt.Errorf("%s gets services that no check of its base can have looked for", e.Task)
	}
	t.dropImage()
	return nil
}

// dropImage: the image is made anew. Workers that have begun go on in the one that they began in.
func (t *observedTask) dropImage() {
	p := *t.prepared
	if t.early && t.earlyImage == "" {
		t.earlyImage = p.Image
	}
	p.Image = ""
	t.prepared = &p
}

// prepareAnew: with a line more in the config the base is found again, and all that hangs on it, until a
// worker may begin.
func (c *Checker) prepareAnew(t *observedTask, id company.TaskID) {
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

// observeBaseline: taken once, with the image, before a worker begins, of every pinned
// gate.
func (t *observedTask) observeBaseline(d *company.BaselineRecorded, e company.Event) error {
	r := d.Result
	if t.prepared == nil || t.prepared.Image == "" || t.base != nil || len(r.Checks) == 0 || r.GateHash != t.prepared.GateHash || len(r.Checks) != len(t.prepared.Gates) {
		return fmt.Errorf("a baseline of %s that is none", e.Task)
	}
	for i, c := range r.Checks {
		g := t.prepared.Gates[i]
		if c.Name != g.Name || c.Command != g.Command || c.Skipped || c.Passed && (c.ExitCode != 0 || c.Absent) || c.Absent && (g.Given || g.IsTest() && !g.Provisional) || c.LeftOut && !(c.Absent && g.Provisional) {
			return fmt.Errorf("the baseline of %s proves nothing about %s", e.Task, c.Name)
		}
	}
	t.base = &r
	return nil
}

// hasGates says whether any pinned gate looks at the work.
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

// mechanical are files that two subtasks of one wave could both write in plans
// of older versions, as if they were made anew after the merge.
var mechanical = glob.MustParse(
	"**/go.sum", "**/go.work.sum", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/pnpm-lock.yaml",
	"**/yarn.lock", "**/bun.lock", "**/Cargo.lock", "**/poetry.lock", "**/uv.lock", "**/Pipfile.lock",
	"**/Gemfile.lock", "**/composer.lock",
	"**/*.generated.*", "**/*_generated.go", "**/*.pb.go",
)

// Bounds of the search for a path that two write sets of a plan share.
const (
	maxOverlapSteps = 1 << 22 // pairs of positions
	maxMatchSteps   = 1 << 27 // of comparisons with generated files
)

// checkDisjointWrites: no two subtasks of a wave may write the same file, but where one
// comes after the other. The wave's first subtask has the number first.
func (t *observedTask) checkDisjointWrites(task company.TaskID, first int, wave company.Wave) error {
	budget, steps := maxOverlapSteps, maxMatchSteps
	for i, a := range wave.Subtasks {
		for j, b := range wave.Subtasks[:i] {
			one, other := company.NewSubtaskID(task, first+i), company.NewSubtaskID(task, first+j)
			if t.comesBefore(task, one, other) || t.comesBefore(task, other, one) {
				continue
			}
			for _, x := range a.WriteSet {
				for _, y := range b.WriteSet {
					gx, err1 := glob.Parse(x)
					gy, err2 := glob.Parse(y)
					if err1 != nil || err2 != nil {
						return errors.New("a write set that cannot be read")
					}
					if _, both := glob.CommonPath(gx, gy, &budget); both && !gx.IsWithin(mechanical, &steps) && !gy.IsWithin(mechanical, &steps) {
						return fmt.Errorf("two write sets meet: %s and %s", x, y)
					}
				}
			}
		}
	}
	return nil
}
