package company

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company/glob"
)

const (
	maxPlanProblems   = 20
	maxTitleRunes     = 120
	maxNameRunes      = 60
	maxDescription    = 16 << 10
	maxWhy            = 4 << 10
	maxListed         = 64      // globs, criteria or context entries of one subtask
	maxListedBytes    = 2 << 10 // of one criterion or context entry
	tinyDescription   = 40      // characters
	planOverlapBudget = 1 << 22 // pairs of positions for all overlap checks of one plan
	planMatchBudget   = 1 << 26 // steps for all comparisons of its globs with paths
	planGlobBudget    = 1 << 17 // characters and wildcards of all its globs, with braces expanded
)

// hot lists the classes of SUB-19. Their files depend on each other whatever their names are, so only one subtask of a
// wave may own a class.
var hot = glob.MustParse("**/migrations/**", "tsconfig*.json", "biome.json", "lefthook.yml", ".github/**",
	".gitlab-ci.yml")

// Check returns the plan's problems in the plan's order, at most 20. An empty result means that the plan is accepted
// (SUB-8, SUB-12, SUB-18, SUB-19). It reads only the plan and the rules, and its time is bounded.
func (p Plan) Check(rules PlanRules) []PlanProblem {
	c := planCheck{rules: rules.WithDefaults(), budget: planOverlapBudget, steps: planMatchBudget, globs: planGlobBudget,
		protected: slices.Clone(alwaysProtected)}
	c.addProtected(c.rules.Protected)
	if c.checkSizes(p); len(c.problems) > 0 {
		return c.problemList() // a plan that is too large is not checked further
	}
	c.checkSplit(p)
	c.order = planOrderOf(p, func(place int, what, fix string) { c.add(p.labelOf(place), what, fix) })
	ordered := c.checkOrder(p)
	titles := map[string]string{}
	var written []glob.Glob // paths that earlier waves may write
	first := 0              // the index of the wave's first subtask in the plan
	for w, wave := range p.Waves {
		sets := make([][]glob.Glob, len(wave.Subtasks))
		for i, subtask := range wave.Subtasks {
			at := p.labelOf(first + i)
			c.checkSubtaskText(at, subtask)
			c.checkGranularity(at, subtask)
			if key := titleKey(subtask.Title); key != "" {
				if first, dup := titles[key]; dup {
					c.add(at, "has the title of "+first, "give each subtask a title of its own")
				} else {
					titles[key] = at
				}
			}
			sets[i] = c.writeSet(at, subtask)
		}
		if ordered {
			waveLook := c.lookAtWave(p, w, first, sets)
			c.checkDisjoint(waveLook)
			c.checkIndependent(waveLook, written)
		}
		written = append(written, slices.Concat(sets...)...)
		first += len(wave.Subtasks)
	}
	if c.steps < 0 {
		c.add("plan", "has globs that are too complex to be compared with protected paths and with each other",
			"name folders, such as internal/api/**, instead of globs with many wildcards and braces")
	}
	return c.problemList()
}

// planCheck is the state of one Check.
type planCheck struct {
	rules     PlanRules
	protected glob.FoldedSet
	order     planOrder
	budget    int // left for overlap checks of two globs
	steps     int // left for comparisons of globs with paths
	globs     int // left for the sizes of parsed globs
	problems  []PlanProblem
}

func (c *planCheck) add(where, what, fix string) {
	c.problems = append(c.problems, PlanProblem{where, what, fix})
}

func (c *planCheck) problemList() []PlanProblem {
	return c.problems[:min(len(c.problems), maxPlanProblems)]
}

func (c *planCheck) addProtected(globs []string) {
	for _, s := range globs {
		folded, err := glob.ParseFolded(s)
		if err != nil {
			c.add("rules", "a protected path cannot be read: "+err.Error(), "correct gates.protected in company.yaml")
			continue
		}
		c.protected = append(c.protected, folded)
	}
}

// labelOf returns the manager's name for the subtask at a place of the plan. It omits the wave if the plan has only
// one.
func (p Plan) labelOf(place int) string {
	for w, wave := range p.Waves {
		if place < len(wave.Subtasks) {
			label := subtaskLabel(place, wave.Subtasks[place])
			if len(p.Waves) > 1 {
				label = fmt.Sprintf("wave %d, %s", w+1, label)
			}
			return label
		}
		place -= len(wave.Subtasks)
	}
	return "plan"
}

func subtaskLabel(sub int, subtask PlannedSubtask) string {
	title := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, subtask.Title))
	if len(title) > 60 {
		title = append(title[:57], []rune("...")...)
	}
	return fmt.Sprintf("subtask %d (%s)", sub+1, string(title))
}

// titleKey normalises case and spaces of a title.
func titleKey(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// checkSizes checks the numbers of waves and subtasks.
func (c *planCheck) checkSizes(plan Plan) {
	if plan.Subtasks() == 0 {
		c.add("plan", "has no subtasks", "plan at least one subtask, or ask the president when the instruction is unclear")
		return
	}
	if n := len(plan.Waves); n > c.rules.MaxWaves {
		c.add("plan", fmt.Sprintf("has %d waves, %d are allowed", n, c.rules.MaxWaves),
			"fuse subtasks; most jobs need one or two waves")
	}
	c.checkCount(plan.Subtasks(), fmt.Sprintf("has %d subtasks", plan.Subtasks()),
		"fuse subtasks; most jobs are one to three")
	for i, wave := range plan.Waves {
		at := fmt.Sprintf("wave %d", i+1)
		if len(wave.Subtasks) == 0 {
			c.add(at, "has no subtasks", "leave the wave out")
		}
	}
}

// checkOrder checks the order that the after entries give. It reports whether the order has no cycle. All checks of two
// subtasks of a wave need that.
func (c *planCheck) checkOrder(plan Plan) bool {
	if cycle := c.order.findCycle(); cycle != nil {
		var names []string
		for _, place := range append(cycle, cycle[0]) {
			names = append(names, plan.labelOf(place))
		}
		c.add("plan", "goes in a circle: "+strings.Join(names, " comes after "),
			"take one of them out of an after, or fuse the subtasks")
		return false
	}
	steps := c.order.stepOfEach()
	widths := make([]int, len(steps)+1)
	limit := 0
	for _, step := range steps {
		widths[step]++
		limit = max(limit, step)
	}
	name := "wave"
	if c.order.namesAny() {
		name = "step"
	}
	if limit > c.rules.MaxWaves {
		c.add("plan", fmt.Sprintf("has %d %ss one after the other, %d are allowed", limit, name, c.rules.MaxWaves),
			"fuse subtasks; most jobs need one or two")
	}
	for step, n := range widths {
		if n > c.rules.MaxWaveWidth {
			c.add(fmt.Sprintf("%s %d", name, step), fmt.Sprintf("has %d subtasks, %d are allowed", n, c.rules.MaxWaveWidth),
				"fuse subtasks, or let some come after others")
		}
	}
	return true
}

// checkSplit checks whether the parts are worth a worker each: every part costs a container, a conversation, a gate and
// a review. It refuses a split in which every part is tiny. Tiny means small effort, one named file, and a description
// that fits in a line.
func (c *planCheck) checkSplit(plan Plan) {
	c.checkText("plan", "why", plan.Why, maxWhy, false)
	c.checkText("plan", "title", plan.Title, maxTitle, false)
	c.checkTextList("plan", "decision", "decisions", plan.Decisions)
	if plan.Subtasks() == 1 {
		return
	}
	if strings.TrimSpace(plan.Why) == "" {
		c.add("plan", "does not say why it splits into several subtasks", "say it in why, or plan one subtask")
	}
	for _, w := range plan.Waves {
		for _, s := range w.Subtasks {
			if c.rules.Granularity.AllowTiny || !s.isTiny() {
				return
			}
		}
	}
	c.add("plan", fmt.Sprintf("splits into %d parts that are all tiny", plan.Subtasks()),
		"plan one subtask that does them all")
}

func (s PlannedSubtask) isTiny() bool {
	if s.Effort != EffortSmall || len(s.WriteSet) > 1 ||
		utf8.RuneCountInString(strings.TrimSpace(s.Description)) >= tinyDescription {
		return false
	}
	for _, w := range s.WriteSet {
		if g, err := parseGlob(w); err == nil && !g.IsLiteral() {
			return false
		}
	}
	return true
}

// checkText checks a text of the plan. It must be UTF-8 without control characters except line ends and tabs. It must
// not be too long, nor blank where it is needed.
func (c *planCheck) checkText(at, name, s string, limit int, needed bool) {
	switch {
	case needed && strings.TrimSpace(s) == "":
		c.add(at, "has an empty "+name, "write it")
	case len(s) > limit:
		c.add(at, fmt.Sprintf("has a %s of %d bytes, %d are allowed", name, len(s), limit), "shorten it")
	case !utf8.ValidString(s):
		c.add(at, "has a "+name+" that is not valid UTF-8", "write it in UTF-8")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }):
		c.add(at, "has a control character in its "+name, "leave control characters out")
	}
}

// checkSubtaskText checks the texts and the effort of a subtask.
func (c *planCheck) checkSubtaskText(at string, subtask PlannedSubtask) {
	c.checkText(at, "title", subtask.Title, 4*maxTitleRunes, true)
	if n := utf8.RuneCountInString(subtask.Title); n > maxTitleRunes || strings.ContainsAny(subtask.Title, "\r\n") {
		c.add(at, "has a title that is not one line of up to 120 characters", "shorten it")
	}
	c.checkText(at, "name", subtask.Name, 4*maxNameRunes, false)
	if utf8.RuneCountInString(subtask.Name) > maxNameRunes || strings.ContainsAny(subtask.Name, "\r\n") {
		c.add(at, fmt.Sprintf("has a name that is not one line of up to %d characters", maxNameRunes), "shorten it")
	}
	c.checkText(at, "description", subtask.Description, maxDescription, true)
	switch subtask.Effort {
	case EffortSmall, EffortMedium, EffortLarge:
	default:
		c.add(at, fmt.Sprintf("has the effort %s", quoteShort(subtask.Effort)), "use small, medium or large")
	}
	if len(subtask.AcceptanceCriteria) == 0 {
		c.add(at, "has no acceptance criterion", "name at least one criterion that can be checked")
	}
	c.checkTextList(at, "acceptance criterion", "acceptance criteria", subtask.AcceptanceCriteria)
	c.checkTextList(at, "context entry", "context entries", subtask.Context)
	c.checkTextList(at, "entry of after", "entries of after", subtask.After)
}

func (c *planCheck) checkTextList(at, one, many string, list []string) {
	if len(list) > maxListed {
		c.add(at, fmt.Sprintf("has %d %s, %d are allowed", len(list), many, maxListed), "keep the ones that matter")
		return
	}
	for _, s := range list {
		c.checkText(at, one, s, maxListedBytes, true)
	}
}

// writeSet parses the globs of a subtask and reports globs that match protected paths or leave the task's folders.
func (c *planCheck) writeSet(at string, subtask PlannedSubtask) []glob.Glob {
	if len(subtask.WriteSet) == 0 {
		c.add(at, "has an empty write set",
			"name the files and directories that it creates or changes, such as internal/api/**")
	}
	if n := len(subtask.WriteSet); n > maxListed {
		c.add(at, fmt.Sprintf("has a write set of %d globs, %d are allowed", n, maxListed),
			"name directories instead of files")
		return nil
	}
	var set []glob.Glob
	for _, w := range subtask.WriteSet {
		if c.steps < 0 {
			return set
		}
		g, err := parseGlob(w)
		if err != nil {
			hint := "correct the glob"
			if e := (*Error)(nil); errors.As(err, &e) {
				err, hint = E("", e.Message), e.Hint
			}
			c.add(at, "has a write set that cannot be read: "+err.Error(), hint)
			continue
		}
		set = append(set, g)
		if c.globs -= g.Size(); c.globs < 0 {
			c.steps = -1
			return set // Check reports it once, for the plan
		}
		if !c.rules.isInFolders(g) {
			c.add(at, fmt.Sprintf("would write outside of the folders of the task (by %s)", quoteShort(w)),
				"begin each glob with one of "+strings.Join(c.rules.Paths, "/, ")+"/")
		}
		folded, err := glob.ParseFolded(w)
		for _, p := range c.protected {
			if err == nil && !folded.Mentions(p, &c.steps) {
				continue
			}
			if c.steps < 0 {
				return set // Check reports it once, for the plan
			}
			fix := "leave it out; if the instruction needs it, ask the president"
			if g.Prefix() == "" { // a wide glob, such as ** or *.yml
				fix = "name the directories that it changes, such as internal/** or docs/*.md, so that the protected path is not " +
					"among them; if the instruction needs it, ask the president"
			}
			c.add(at, fmt.Sprintf("would write the protected path %s (by %s)", p, quoteShort(w)), fix)
			break
		}
	}
	return set
}

// waveLook is a wave of a plan with the order of its subtasks.
type waveLook struct {
	subs    []PlannedSubtask
	sets    [][]glob.Glob // by subtask: its write set
	labels  []string
	earlier [][]bool // earlier[i][j] means that j is merged before i begins
	others  string   // format for naming another subtask of the wave by its number
}

func (c *planCheck) lookAtWave(plan Plan, w, first int, sets [][]glob.Glob) waveLook {
	v := waveLook{subs: plan.Waves[w].Subtasks, sets: sets, others: "subtask %d"}
	if len(plan.Waves) > 1 {
		v.others += " of the same wave"
	}
	for i := range v.subs {
		v.labels = append(v.labels, plan.labelOf(first+i))
		v.earlier = append(v.earlier, c.order.listEarlier(first + i)[first:first+len(v.subs)])
	}
	return v
}

// sideBySide reports whether two subtasks may run at the same time.
func (v waveLook) sideBySide(i, j int) bool { return i != j && !v.earlier[i][j] && !v.earlier[j][i] }

func (v waveLook) nameOther(j int) string { return fmt.Sprintf(v.others, j+1) }

// checkDisjoint reports overlapping write sets of subtasks that may run at the same time (SUB-18), and hot classes that
// several of them write (SUB-19).
func (c *planCheck) checkDisjoint(v waveLook) {
	for i := range v.sets {
		for j := range v.sets[:i] {
			if len(c.problems) >= maxPlanProblems {
				return
			}
			if !v.sideBySide(i, j) {
				continue
			}
			if what := c.findOverlap(v.sets[i], v.sets[j]); what != "" {
				c.add(v.labels[i], fmt.Sprintf("may write what %s writes: %s", v.nameOther(j), what),
					"make the write sets disjoint, fuse the two, or name one in the after of the other")
			}
		}
		for _, class := range hot {
			if len(c.problems) >= maxPlanProblems {
				return
			}
			if !c.mentionsAny(v.sets[i], class) {
				continue
			}
			for j := range v.sets[:i] {
				if v.sideBySide(i, j) && c.mentionsAny(v.sets[j], class) {
					c.add(v.labels[i], fmt.Sprintf("writes %s, and so does %s", class, v.nameOther(j)),
						"give all such files to one subtask, or name one in the after of the other")
					break
				}
			}
		}
	}
}

// findOverlap describes the first two globs that overlap, with a path that both match. It also reports globs that could
// not be compared within the budget. It returns an empty text if the sets are disjoint.
func (c *planCheck) findOverlap(one, other []glob.Glob) string {
	for _, a := range one {
		for _, b := range other {
			path, both := glob.CommonPath(a, b, &c.budget)
			switch {
			case both && path != "":
				return fmt.Sprintf("%s and %s both match %s", a, b, quoteShort(path))
			case both:
				return fmt.Sprintf("%s and %s could not be told apart", a, b)
			}
		}
	}
	return ""
}

// mentionsAny reports whether a glob of a set mentions a class. It reports false once the steps are used up.
func (c *planCheck) mentionsAny(set []glob.Glob, class glob.Glob) bool {
	return slices.ContainsFunc(set, func(g glob.Glob) bool { return g.Mentions(class, &c.steps) && c.steps >= 0 })
}

// checkIndependent reports subtasks that need the output of another one which may run at the same time (SUB-8). Such a
// subtask mentions the other by its title. Or it reads a missing file that no earlier subtask writes but the other one
// does.
func (c *planCheck) checkIndependent(v waveLook, written []glob.Glob) {
	var exists map[string]bool
	if c.rules.Files != nil {
		exists = make(map[string]bool, len(c.rules.Files))
		for _, f := range c.rules.Files {
			exists[f] = true
		}
	}
	const fix = "name that one in its after, or fuse the two"
	for i, subtask := range v.subs {
		text := titleKey(subtask.Description + "\n" + strings.Join(subtask.AcceptanceCriteria, "\n") + "\n" +
			strings.Join(subtask.Context, "\n"))
		before := slices.Clone(written)
		for j, earlier := range v.earlier[i] {
			if earlier {
				before = append(before, v.sets[j]...)
			}
		}
		for j, other := range v.subs {
			if len(c.problems) >= maxPlanProblems {
				return
			}
			if !v.sideBySide(i, j) {
				continue
			}
			// A title of one or two short terms turns up by accident.
			if key := titleKey(other.Title); len(strings.Fields(key)) >= 3 && strings.Contains(text, key) {
				c.add(v.labels[i], fmt.Sprintf("mentions %s by its title, so it depends on its result", v.nameOther(j)), fix)
				continue
			}
			if exists == nil {
				continue
			}
			missing := slices.IndexFunc(subtask.Context, func(entry string) bool {
				f, named := ParseContext(entry)
				path := f.Path
				return named && !exists[path] &&
					slices.ContainsFunc(v.sets[j], func(g glob.Glob) bool { return g.IsLiteral() && g.MatchWithin(path, &c.steps) }) &&
					!slices.ContainsFunc(before, func(g glob.Glob) bool { return g.MatchWithin(path, &c.steps) }) && c.steps >= 0
			})
			if missing >= 0 {
				c.add(v.labels[i],
					fmt.Sprintf("reads %s, which does not exist before %s writes it", quoteShort(subtask.Context[missing]),
						v.nameOther(j)),
					fix)
			}
		}
	}
}
