package company

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/glob"
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
	planOverlapBudget = 1 << 22 // pairs of positions for all questions of one plan
	planMatchBudget   = 1 << 26 // steps for all comparisons of its globs with paths
	planGlobBudget    = 1 << 17 // characters and wildcards of all its globs, their braces expanded
)

// hot are the classes of SUB-19 whose files depend on each other whatever
// their names are: one subtask of a wave owns a class.
var hot = glob.MustParse("**/migrations/**", "tsconfig*.json", "biome.json", "lefthook.yml", ".github/**", ".gitlab-ci.yml")

// Check lists the plan's problems, in the plan's order, at most 20; none means
// that it is accepted (SUB-8, SUB-12, SUB-18, SUB-19). It looks at the plan and
// the rules alone, and its time is bounded.
func (p Plan) Check(rules PlanRules) []PlanProblem {
	c := planCheck{rules: rules.WithDefaults(), budget: planOverlapBudget, steps: planMatchBudget, globs: planGlobBudget, protected: slices.Clone(alwaysProtected)}
	c.addProtected(c.rules.Protected)
	if c.checkSizes(p); len(c.problems) > 0 {
		return c.problemList() // a plan that is too large is not looked into
	}
	c.checkSplit(p)
	c.order = planOrderOf(p, func(place int, what, fix string) { c.add(p.labelOf(place), what, fix) })
	ordered := c.checkOrder(p)
	titles := map[string]string{}
	var written []glob.Glob // what the waves before may write
	first := 0              // the place of the wave's first subtask
	for w, wave := range p.Waves {
		sets := make([][]glob.Glob, len(wave.Subtasks))
		for i, s := range wave.Subtasks {
			at := p.labelOf(first + i)
			c.checkSubtaskText(at, s)
			c.checkGranularity(at, s)
			c.checkParts(at, s)
			if key := titleKey(s.Title); key != "" {
				if first, dup := titles[key]; dup {
					c.add(at, "has the title of "+first, "give each subtask a title of its own")
				} else {
					titles[key] = at
				}
			}
			sets[i] = c.writeSet(at, s)
		}
		if ordered {
			v := c.lookAtWave(p, w, first, sets)
			c.checkDisjoint(v)
			c.checkIndependent(v, written)
		}
		written = append(written, slices.Concat(sets...)...)
		first += len(wave.Subtasks)
	}
	if c.steps < 0 {
		c.add("plan", "has globs that are too complex to be compared with protected paths and with each other", "name folders, such as internal/api/**, instead of globs with many wildcards and braces")
	}
	return c.problemList()
}

// planCheck is one Check under way.
type planCheck struct {
	rules     PlanRules
	protected glob.FoldedSet
	order     planOrder
	budget    int // of questions for a path that two globs share
	steps     int // of comparisons of globs with paths
	globs     int // of the sizes of the globs that are read
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
		g, err := glob.ParseFolded(s)
		if err != nil {
			c.add("rules", "a protected path cannot be read: "+err.Error(), "correct gates.protected in company.yaml")
			continue
		}
		c.protected = append(c.protected, g)
	}
}

// labelOf names the subtask at a place of the plan for the manager. The wave is left out
// where there is one alone.
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

func subtaskLabel(sub int, s PlannedSubtask) string {
	title := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s.Title))
	if len(title) > 60 {
		title = append(title[:57], []rune("...")...)
	}
	return fmt.Sprintf("subtask %d (%s)", sub+1, string(title))
}

// titleKey makes titles that differ in case or spaces alone the same.
func titleKey(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// checkSizes looks at the plan's numbers.
func (c *planCheck) checkSizes(p Plan) {
	if p.Subtasks() == 0 {
		c.add("plan", "has no subtasks", "plan at least one subtask, or ask the president when the instruction is unclear")
		return
	}
	if n := len(p.Waves); n > c.rules.MaxWaves {
		c.add("plan", fmt.Sprintf("has %d waves, %d are allowed", n, c.rules.MaxWaves), "fuse subtasks; most jobs need one or two waves")
	}
	c.checkCount(p.Subtasks(), fmt.Sprintf("has %d subtasks", p.Subtasks()), "fuse subtasks; most jobs are one to three")
	for i, w := range p.Waves {
		at := fmt.Sprintf("wave %d", i+1)
		if len(w.Subtasks) == 0 {
			c.add(at, "has no subtasks", "leave the wave out")
		}
	}
}

// checkOrder looks at what the subtasks name in after. It reports whether the order can be
// followed, which every look at two subtasks of a wave needs.
func (c *planCheck) checkOrder(p Plan) bool {
	if cycle := c.order.findCycle(); cycle != nil {
		var names []string
		for _, place := range append(cycle, cycle[0]) {
			names = append(names, p.labelOf(place))
		}
		c.add("plan", "goes in a circle: "+strings.Join(names, " comes after "), "take one of them out of an after, or fuse the subtasks")
		return false
	}
	steps := c.order.stepOfEach()
	widths := make([]int, len(steps)+1)
	most := 0
	for _, step := range steps {
		widths[step]++
		most = max(most, step)
	}
	name := "wave"
	if c.order.namesAny() {
		name = "step"
	}
	if most > c.rules.MaxWaves {
		c.add("plan", fmt.Sprintf("has %d %ss one after the other, %d are allowed", most, name, c.rules.MaxWaves), "fuse subtasks; most jobs need one or two")
	}
	for step, n := range widths {
		if n > c.rules.MaxWaveWidth {
			c.add(fmt.Sprintf("%s %d", name, step), fmt.Sprintf("has %d subtasks, %d are allowed", n, c.rules.MaxWaveWidth), "fuse subtasks, or let some come after others")
		}
	}
	return true
}

// checkSplit asks whether the parts are worth their workers: each costs a container,
// a conversation, a gate and a review. The rule is that not every part may be
// tiny, where tiny is small effort, one named file, and a description that
// fits in a line.
func (c *planCheck) checkSplit(p Plan) {
	c.checkText("plan", "why", p.Why, maxWhy, false)
	c.checkText("plan", "title", p.Title, maxTitle, false)
	c.checkTextList("plan", "decision", "decisions", p.Decisions)
	if p.Subtasks() == 1 {
		return
	}
	if strings.TrimSpace(p.Why) == "" {
		c.add("plan", "does not say why it splits into several subtasks", "say it in why, or plan one subtask")
	}
	for _, w := range p.Waves {
		for _, s := range w.Subtasks {
			if c.rules.Granularity.AllowTiny || !s.isTiny() {
				return
			}
		}
	}
	c.add("plan", fmt.Sprintf("splits into %d parts that are all tiny", p.Subtasks()), "plan one subtask that does them all")
}

func (s PlannedSubtask) isTiny() bool {
	if s.Effort != EffortSmall || len(s.WriteSet) > 1 || utf8.RuneCountInString(strings.TrimSpace(s.Description)) >= tinyDescription {
		return false
	}
	for _, w := range s.WriteSet {
		if g, err := parseGlob(w); err == nil && !g.IsLiteral() {
			return false
		}
	}
	return true
}

// checkText looks at a text of the plan: UTF-8, no control characters but line
// ends and tabs, not too long, not blank where it is needed.
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

// checkSubtaskText looks at what a subtask says.
func (c *planCheck) checkSubtaskText(at string, s PlannedSubtask) {
	c.checkText(at, "title", s.Title, 4*maxTitleRunes, true)
	if n := utf8.RuneCountInString(s.Title); n > maxTitleRunes || strings.ContainsAny(s.Title, "\r\n") {
		c.add(at, "has a title that is not one line of up to 120 characters", "shorten it")
	}
	c.checkText(at, "name", s.Name, 4*maxNameRunes, false)
	if utf8.RuneCountInString(s.Name) > maxNameRunes || strings.ContainsAny(s.Name, "\r\n") {
		c.add(at, fmt.Sprintf("has a name that is not one line of up to %d characters", maxNameRunes), "shorten it")
	}
	c.checkText(at, "description", s.Description, maxDescription, true)
	switch s.Effort {
	case EffortSmall, EffortMedium, EffortLarge:
	default:
		c.add(at, fmt.Sprintf("has the effort %s", quoteShort(s.Effort)), "use small, medium or large")
	}
	if len(s.AcceptanceCriteria) == 0 {
		c.add(at, "has no acceptance criterion", "name at least one criterion that can be checked")
	}
	c.checkTextList(at, "acceptance criterion", "acceptance criteria", s.AcceptanceCriteria)
	c.checkTextList(at, "context entry", "context entries", s.Context)
	c.checkTextList(at, "entry of after", "entries of after", s.After)
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

// writeSet reads the globs of a subtask and keeps them off protected paths.
func (c *planCheck) writeSet(at string, s PlannedSubtask) []glob.Glob {
	if len(s.WriteSet) == 0 {
		c.add(at, "has an empty write set", "name the files and directories that it creates or changes, such as internal/api/**")
	}
	if n := len(s.WriteSet); n > maxListed {
		c.add(at, fmt.Sprintf("has a write set of %d globs, %d are allowed", n, maxListed), "name directories instead of files")
		return nil
	}
	var set []glob.Glob
	for _, w := range s.WriteSet {
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
			return set // Check reports it once, of the plan
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
				return set // Check reports it once, of the plan
			}
			fix := "leave it out; if the instruction needs it, ask the president"
			if g.Prefix() == "" { // a wide one, such as ** or *.yml
				fix = "name the directories that it changes, such as internal/** or docs/*.md, so that the protected path is not among them; if the instruction needs it, ask the president"
			}
			c.add(at, fmt.Sprintf("would write the protected path %s (by %s)", p, quoteShort(w)), fix)
			break
		}
	}
	return set
}

// waveLook is a wave of a plan, with what the order says of its subtasks.
type waveLook struct {
	subs    []PlannedSubtask
	sets    [][]glob.Glob // by subtask: what it may write
	labels  []string
	earlier [][]bool // by two subtasks: the second is merged before the first begins
	others  string   // how another subtask of the wave is called, with its number
}

func (c *planCheck) lookAtWave(p Plan, w, first int, sets [][]glob.Glob) waveLook {
	v := waveLook{subs: p.Waves[w].Subtasks, sets: sets, others: "subtask %d"}
	if len(p.Waves) > 1 {
		v.others += " of the same wave"
	}
	for i := range v.subs {
		v.labels = append(v.labels, p.labelOf(first+i))
		v.earlier = append(v.earlier, c.order.listEarlier(first + i)[first:first+len(v.subs)])
	}
	return v
}

// sideBySide says whether two subtasks may run at the same time.
func (v waveLook) sideBySide(i, j int) bool { return i != j && !v.earlier[i][j] && !v.earlier[j][i] }

func (v waveLook) nameOther(j int) string { return fmt.Sprintf(v.others, j+1) }

// checkDisjoint keeps the write sets of subtasks apart that may run at the same time
// (SUB-18), and each hot class with one of them (SUB-19).
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

// findOverlap names the globs and the path that two write sets share, or the globs that
// could not be compared within the budget; it is empty where the sets are disjoint.
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

// mentionsAny reports whether a glob of a set mentions a class, as far as the steps
// suffice.
func (c *planCheck) mentionsAny(set []glob.Glob, class glob.Glob) bool {
	return slices.ContainsFunc(set, func(g glob.Glob) bool { return g.Mentions(class, &c.steps) && c.steps >= 0 })
}

// checkIndependent looks for a subtask that needs the output of another one which may run
// at the same time (SUB-8): it speaks of the other by its title, or reads a file that is not
// there yet, that nothing before it writes, and that the other writes.
func (c *planCheck) checkIndependent(v waveLook, written []glob.Glob) {
	var exists map[string]bool
	if c.rules.Files != nil {
		exists = make(map[string]bool, len(c.rules.Files))
		for _, f := range c.rules.Files {
			exists[f] = true
		}
	}
	const fix = "name that one in its after, or fuse the two"
	for i, s := range v.subs {
		text := titleKey(s.Description + "\n" + strings.Join(s.AcceptanceCriteria, "\n") + "\n" + strings.Join(s.Context, "\n"))
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
				c.add(v.labels[i], fmt.Sprintf("speaks of %s by its title, so it needs that one's result", v.nameOther(j)), fix)
				continue
			}
			if exists == nil {
				continue
			}
			missing := slices.IndexFunc(s.Context, func(entry string) bool {
				f, named := ParseContext(entry)
				path := f.Path
				return named && !exists[path] && slices.ContainsFunc(v.sets[j], func(g glob.Glob) bool { return g.IsLiteral() && g.MatchWithin(path, &c.steps) }) &&
					!slices.ContainsFunc(before, func(g glob.Glob) bool { return g.MatchWithin(path, &c.steps) }) && c.steps >= 0
			})
			if missing >= 0 {
				c.add(v.labels[i], fmt.Sprintf("reads %s, which does not exist before %s writes it", quoteShort(s.Context[missing]), v.nameOther(j)), fix)
			}
		}
	}
}
