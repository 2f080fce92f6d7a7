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
	maxDescription    = 16 << 10
	maxWhy            = 4 << 10
	maxListed         = 64      // globs, criteria or context entries of one subtask
	maxListedBytes    = 2 << 10 // of one criterion or context entry
	tinyDescription   = 40      // characters
	planOverlapBudget = 1 << 22 // pairs of states for all questions of one plan
)

// hot are the classes of SUB-19 whose files depend on each other whatever
// their names are: one subtask of a wave owns a class.
var hot = glob.MustParse("**/migrations/**", "tsconfig*.json", "biome.json", "lefthook.yml", ".github/**", ".gitlab-ci.yml")

// Check lists the plan's problems, in the plan's order, at most 20; none means
// that it is accepted (SUB-8, SUB-12, SUB-18, SUB-19). It looks at the plan and
// the rules alone, and its time is bounded.
func (p Plan) Check(rules PlanRules) []PlanProblem {
	c := planCheck{rules: rules.WithDefaults(), budget: planOverlapBudget}
	c.addProtected(DefaultProtected())
	c.addProtected(c.rules.Protected)
	if c.checkSizes(p); len(c.problems) > 0 {
		return c.problemList() // a plan that is too large is not looked into
	}
	c.checkSplit(p)
	titles := map[string]string{}
	var earlier []glob.Glob // what the waves before may write
	for w, wave := range p.Waves {
		sets := make([][]glob.Glob, len(wave.Subtasks))
		for i, s := range wave.Subtasks {
			at := subtaskLabel(w, i, s)
			c.checkSubtaskText(at, s)
			if key := titleKey(s.Title); key != "" {
				if first, dup := titles[key]; dup {
					c.add(at, "has the title of "+first, "give each subtask a title of its own")
				} else {
					titles[key] = at
				}
			}
			sets[i] = c.writeSet(at, s)
		}
		c.checkDisjoint(w, wave, sets)
		c.checkIndependent(w, wave, sets, earlier)
		earlier = append(earlier, slices.Concat(sets...)...)
	}
	return c.problemList()
}

// planCheck is one Check under way.
type planCheck struct {
	rules     PlanRules
	protected []glob.Glob
	budget    int
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
		g, err := parseGlob(s)
		if err != nil {
			c.add("rules", "a protected path cannot be read: "+err.Error(), "correct gates.protected in company.yaml")
			continue
		}
		c.protected = append(c.protected, g)
	}
}

func subtaskLabel(wave, sub int, s PlannedSubtask) string {
	title := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s.Title))
	if len(title) > 60 {
		title = append(title[:57], []rune("...")...)
	}
	return fmt.Sprintf("wave %d, subtask %d (%s)", wave+1, sub+1, string(title))
}

// titleKey makes titles that differ in case or spaces alone the same.
func titleKey(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// checkSizes looks at the plan's numbers.
func (c *planCheck) checkSizes(p Plan) {
	if p.Subtasks() == 0 {
		c.add("plan", "has no subtasks", "plan at least one wave with one subtask, or ask the president when the instruction is unclear")
		return
	}
	if n := len(p.Waves); n > c.rules.MaxWaves {
		c.add("plan", fmt.Sprintf("has %d waves, %d are allowed", n, c.rules.MaxWaves), "fuse subtasks; most jobs need one or two waves")
	}
	if n := p.Subtasks(); n > c.rules.MaxSubtasks {
		c.add("plan", fmt.Sprintf("has %d subtasks, %d are allowed", n, c.rules.MaxSubtasks), "fuse subtasks; most jobs are one to three")
	}
	for i, w := range p.Waves {
		at := fmt.Sprintf("wave %d", i+1)
		if n := len(w.Subtasks); n > c.rules.MaxWaveWidth {
			c.add(at, fmt.Sprintf("has %d subtasks, %d are allowed", n, c.rules.MaxWaveWidth), "fuse subtasks or move some to a later wave")
		} else if n == 0 {
			c.add(at, "has no subtasks", "leave the wave out")
		}
	}
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
			if !s.isTiny() {
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
		if !c.rules.isInFolders(g) {
			c.add(at, fmt.Sprintf("would write outside of the folders of the task (by %s)", quoteShort(w)),
				"begin each glob with one of "+strings.Join(c.rules.Paths, "/, ")+"/")
		}
		for _, p := range c.protected {
			if !g.Mentions(p) {
				continue
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

// checkDisjoint keeps the write sets of a wave apart (SUB-18), and each hot class
// with one subtask (SUB-19).
func (c *planCheck) checkDisjoint(w int, wave Wave, sets [][]glob.Glob) {
	owner := make([]int, len(hot))
	for h := range owner {
		owner[h] = -1
	}
	for i := range sets {
		at := subtaskLabel(w, i, wave.Subtasks[i])
	pairs:
		for j := range sets[:i] {
			for _, a := range sets[i] {
				for _, b := range sets[j] {
					if len(c.problems) >= maxPlanProblems {
						return
					}
					path, both := glob.CommonPath(a, b, &c.budget)
					if !both {
						continue
					}
					what := fmt.Sprintf("may write what subtask %d of the same wave writes: %s and %s", j+1, a, b)
					if path != "" {
						what += fmt.Sprintf(" both match %s", quoteShort(path))
					} else {
						what += " could not be told apart"
					}
					c.add(at, what, "make the write sets disjoint, fuse the two, or move one to a later wave")
					continue pairs
				}
			}
		}
		for h, class := range hot {
			for _, g := range sets[i] {
				if !g.Mentions(class) {
					continue
				}
				if o := owner[h]; o >= 0 {
					c.add(at, fmt.Sprintf("writes %s, and so does subtask %d of the same wave", class, o+1),
						"give all such files of a wave to one subtask, or move one subtask to a later wave")
				} else {
					owner[h] = i
				}
				break
			}
		}
	}
}

// checkIndependent looks for a subtask that needs another's output inside its wave
// (SUB-8): it speaks of the other by its title, or reads a file that is not
// there yet, that no earlier wave writes, and that the other writes.
func (c *planCheck) checkIndependent(w int, wave Wave, sets [][]glob.Glob, earlier []glob.Glob) {
	var exists map[string]bool
	for i, s := range wave.Subtasks {
		at := subtaskLabel(w, i, s)
		text := titleKey(s.Description + "\n" + strings.Join(s.AcceptanceCriteria, "\n") + "\n" + strings.Join(s.Context, "\n"))
	others:
		for j, other := range wave.Subtasks {
			if len(c.problems) >= maxPlanProblems {
				return
			}
			if j == i {
				continue
			}
			// A title of one or two short terms turns up by accident.
			if key := titleKey(other.Title); len(strings.Fields(key)) >= 3 && strings.Contains(text, key) {
				c.add(at, fmt.Sprintf("speaks of subtask %d of the same wave by its title, so it needs that one's result", j+1),
					"move it to a later wave, or fuse the two")
				continue
			}
			if c.rules.Files == nil {
				continue
			}
			if exists == nil {
				exists = make(map[string]bool, len(c.rules.Files))
				for _, f := range c.rules.Files {
					exists[f] = true
				}
			}
			for _, path := range s.Context {
				for _, g := range sets[j] {
					if g.IsLiteral() && g.Match(path) && !exists[path] && !slices.ContainsFunc(earlier, func(e glob.Glob) bool { return e.Match(path) }) {
						c.add(at, fmt.Sprintf("reads %s, which does not exist before subtask %d of the same wave writes it", quoteShort(path), j+1),
							"move it to a later wave, or fuse the two")
						continue others
					}
				}
			}
		}
	}
}
