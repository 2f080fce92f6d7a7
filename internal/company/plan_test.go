package company_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	. "company/internal/company"
	"company/internal/company/glob"
	"company/internal/company/glob/globtest"
)

// okSubtask is a subtask that nothing is wrong with.
func okSubtask(title string, writes ...string) PlannedSubtask {
	return PlannedSubtask{
		Title:              title,
		Description:        "Write the code for it, with its tests, as the package beside it does.",
		AcceptanceCriteria: []string{"go test ./... passes"},
		WriteSet:           writes,
		Effort:             EffortMedium,
	}
}

// okPlan is a plan of two waves that is accepted.
func okPlan() Plan {
	return Plan{
		Why: "three packages that do not know each other, then the command that joins them",
		Waves: []Wave{
			{[]PlannedSubtask{
				okSubtask("Add the parser", "internal/parse/**", "go.sum"),
				okSubtask("Add the store", "internal/store/**"),
				okSubtask("Write the guide", "docs/*.md", "README.md"),
			}},
			{[]PlannedSubtask{okSubtask("Add the command", "cmd/**", "internal/store/open.go")}},
		},
	}
}

func TestPlanAccepted(t *testing.T) {
	t.Parallel()
	if got := okPlan().Check(PlanRules{}); len(got) != 0 {
		t.Fatalf("a good plan is refused: %v", got)
	}
	one := Plan{Waves: []Wave{{[]PlannedSubtask{okSubtask("Fix the typo", "README.md")}}}}
	one.Waves[0].Subtasks[0].Effort = EffortSmall
	one.Waves[0].Subtasks[0].Description = "Fix it."
	if got := one.Check(PlanRules{}); len(got) != 0 {
		t.Fatalf("one tiny subtask is refused: %v", got)
	}
	wide := Plan{Waves: []Wave{{[]PlannedSubtask{okSubtask("Rename the module", "**/*.go", "go.mod", "*.go", "**/*.md")}}}}
	if got := wide.Check(PlanRules{}); len(got) != 0 {
		t.Fatalf("a subtask over all Go files is refused: %v", got)
	}
}

// Each way to be refused, with the words that go back to the manager (SUB-8,
// SUB-12, SUB-18, SUB-19).
func TestPlanRefused(t *testing.T) {
	t.Parallel()
	edit := func(f func(p *Plan)) Plan { p := okPlan(); f(&p); return p }
	sub := func(f func(s *PlannedSubtask)) Plan {
		return edit(func(p *Plan) { f(&p.Waves[0].Subtasks[1]) })
	}
	const at = "wave 1, subtask 2 (Add the store)"
	many := func(n, width int) Plan {
		p := Plan{Why: "it is a large job"}
		for i := range n {
			if i%width == 0 {
				p.Waves = append(p.Waves, Wave{})
			}
			w := &p.Waves[len(p.Waves)-1]
			w.Subtasks = append(w.Subtasks, okSubtask(fmt.Sprintf("Part %d", i), fmt.Sprintf("part%d/**", i)))
		}
		return p
	}
	for _, c := range []struct {
		name  string
		plan  Plan
		where string
		what  string // contained in What
	}{
		{"empty", Plan{}, "plan", "has no subtasks"},
		{"only empty waves", Plan{Waves: make([]Wave, 3)}, "plan", "has no subtasks"},
		{"empty wave", edit(func(p *Plan) { p.Waves = append(p.Waves, Wave{}) }), "wave 3", "has no subtasks"},
		{"1,000 tasks", many(1000, 16), "plan", "has 63 waves, 16 are allowed"},
		{"too many subtasks", many(65, 16), "plan", "has 65 subtasks, 64 are allowed"},
		{"too wide", many(17, 17), "wave 1", "has 17 subtasks, 16 are allowed"},
		{"no why", edit(func(p *Plan) { p.Why = " " }), "plan", "does not say why it splits"},
		{"no acceptance", sub(func(s *PlannedSubtask) { s.AcceptanceCriteria = nil }), at, "has no acceptance criterion"},
		{"blank acceptance", sub(func(s *PlannedSubtask) { s.AcceptanceCriteria = []string{"x", " \n"} }), at,
			"has an empty acceptance criterion"},
		{"no title", sub(func(s *PlannedSubtask) { s.Title = "" }), "wave 1, subtask 2 ()", "has an empty title"},
		{"two lines of title", sub(func(s *PlannedSubtask) { s.Title = "Add\nthe store" }), at, "not one line"},
		{"long title", sub(func(s *PlannedSubtask) { s.Title = strings.Repeat("ä", 121) }),
			"wave 1, subtask 2 (" + strings.Repeat("ä", 57) + "...)", "not one line of up to 120 characters"},
		{"control character in title", sub(func(s *PlannedSubtask) { s.Title = "Add\x1bthe store" }), at,
			"has a control character in its title"},
		{"duplicate title", sub(func(s *PlannedSubtask) { s.Title = "add  THE parser" }),
			"wave 1, subtask 2 (add  THE parser)", "has the title of wave 1, subtask 1 (Add the parser)"},
		{"no description", sub(func(s *PlannedSubtask) { s.Description = "" }), at, "has an empty description"},
		{"long description", sub(func(s *PlannedSubtask) { s.Description = strings.Repeat("x", 16<<10+1) }), at,
			"has a description of 16385 bytes, 16384 are allowed"},
		{"bad UTF-8", sub(func(s *PlannedSubtask) { s.Description = "a\xffb" }), at, "not valid UTF-8"},
		{"NUL in criterion", sub(func(s *PlannedSubtask) { s.AcceptanceCriteria[0] = "a\x00" }), at,
			"has a control character in its acceptance criterion"},
		{"many criteria", sub(func(s *PlannedSubtask) { s.AcceptanceCriteria = make([]string, 65) }), at,
			"has 65 acceptance criteria"},
		{"effort", sub(func(s *PlannedSubtask) { s.Effort = "huge" }), at, `has the effort "huge"`},
		{"no write set", sub(func(s *PlannedSubtask) { s.WriteSet = nil }), at, "has an empty write set"},
		{"large write set", sub(func(s *PlannedSubtask) { s.WriteSet = make([]string, 65) }), at,
			"has a write set of 65 globs"},
		{"write set outside", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"../x"} }), at, "cannot be read"},
		{"absolute write set", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"/etc/x"} }), at, "it is absolute"},
		{"overlap", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"internal/**/*.go"} }), at,
			`may write what subtask 1 of the same wave writes: internal/**/*.go and internal/parse/** both match "internal/parse/`},
		{"protected", sub(func(s *PlannedSubtask) { s.WriteSet = []string{".github/workflows/ci.yml"} }), at,
			"would write the protected path .github/**"},
		{"all of it", edit(func(p *Plan) { p.Waves[1].Subtasks[0].WriteSet = []string{"**"} }),
			"wave 2, subtask 1 (Add the command)", `would write the protected path .github/** (by "**")`},
		{"yaml of the root", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"*.yml"} }), at,
			"would write the protected path .gitlab-ci.yml"},
		{"attributes below", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"internal/store/.gitattributes"} }), at,
			"would write the protected path **/.git*"},
		{"owners", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"CODEOWNERS"} }), at,
			"would write the protected path **/CODEOWNERS"},
		{"own config", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"company.yaml"} }), at,
			"would write the protected path **/company.yaml"},
		{"given protected", sub(func(s *PlannedSubtask) { s.WriteSet = []string{"secret/x.go"} }), at,
			"would write the protected path secret/**"},
		{"one owner of migrations", edit(func(p *Plan) {
			p.Waves[0].Subtasks[0].WriteSet = []string{"db/migrations/001.sql"}
			p.Waves[0].Subtasks[1].WriteSet = []string{"db/migrations/002.sql"}
		}), at, "writes **/migrations/**, and so does subtask 1"},
		{"one owner of tsconfig", edit(func(p *Plan) {
			p.Waves[0].Subtasks[0].WriteSet = []string{"tsconfig.json"}
			p.Waves[0].Subtasks[1].WriteSet = []string{"tsconfig.build.json"}
		}), at, "writes tsconfig*.json, and so does subtask 1"},
		{"needs another", sub(func(s *PlannedSubtask) {
			s.Description = "After \"Add the  parser\" is done, store what it " +
				"gives."
		}), at, "mentions subtask 1 of the same wave by its title"},
		{"reads what is not there", edit(func(p *Plan) {
			p.Waves[0].Subtasks[0].WriteSet = []string{"internal/parse/parse.go"}
			p.Waves[0].Subtasks[1].Context = []string{"internal/parse/parse.go"}
		}), at, `reads "internal/parse/parse.go", which does not exist before subtask 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.plan.Check(PlanRules{Protected: []string{"secret/**"}, Files: []string{"go.mod"}})
			if len(got) == 0 {
				t.Fatal("accepted")
			}
			for _, p := range got {
				if p.Fix == "" || strings.Contains(p.String(), "%!") {
					t.Errorf("a bad problem: %+v", p)
				}
			}
			if got[0].Where != c.where || !strings.Contains(got[0].What, c.what) {
				t.Fatalf("first problem is\n  %s: %s\nwant\n  %s: ...%s...", got[0].Where, got[0].What, c.where, c.what)
			}
		})
	}
}

// A split into tiny parts is refused; one part that is worth a worker is enough
// to let it through. git.paths: every glob of a write set is below one of the
// task's folders.
func TestPlanPaths(t *testing.T) {
	t.Parallel()
	rules := PlanRules{Paths: []string{"services/api", "lib"}}
	for glob, good := range map[string]bool{
		"services/api/main.go": true, "services/api/**": true, "lib/{a,b}/*.go": true, "services/api/a*": true,
		"services/api": false, "services/apiary/x.go": false, "services/ap*/x.go": false, "services/web/x.go": false,
		"README.md": false, "**": false, "**/*.go": false, "{lib/a,services/web/b}": false, "{lib/a,lib/b}/x": true,
		"library/x": false,
	} {
		p := Plan{Waves: []Wave{{[]PlannedSubtask{okSubtask("Change it", glob)}}}}
		got := p.Check(rules)
		if good != (len(got) == 0) {
			t.Errorf("%s: %v", glob, got)
		}
		if !good && len(got) > 0 && (!strings.Contains(got[0].What, "outside of the folders") ||
			!strings.Contains(got[0].Fix, "services/api/, lib/")) {
			t.Errorf("%s: %+v", glob, got[0])
		}
	}
}

func TestPlanTinySplit(t *testing.T) {
	t.Parallel()
	p := Plan{Why: "two files", Waves: []Wave{{[]PlannedSubtask{
		{Title: "Fix a", Description: "Fix a.go.", AcceptanceCriteria: []string{"it builds"}, WriteSet: []string{"a.go"},
			Effort: EffortSmall},
		{Title: "Fix b", Description: "Fix b.go.", AcceptanceCriteria: []string{"it builds"}, WriteSet: []string{"b.go"},
			Effort: EffortSmall},
	}}}}
	got := p.Check(PlanRules{})
	if len(got) != 1 || got[0].What != "splits into 2 parts that are all tiny" {
		t.Fatalf("got %v", got)
	}
	for name, change := range map[string]func(s *PlannedSubtask){
		"effort":      func(s *PlannedSubtask) { s.Effort = EffortMedium },
		"write set":   func(s *PlannedSubtask) { s.WriteSet = []string{"b.go", "b_test.go"} },
		"directory":   func(s *PlannedSubtask) { s.WriteSet = []string{"b/**"} },
		"description": func(s *PlannedSubtask) { s.Description = strings.Repeat("word ", 10) },
	} {
		q := p
		q.Waves = []Wave{{append([]PlannedSubtask(nil), p.Waves[0].Subtasks...)}}
		change(&q.Waves[0].Subtasks[1])
		if got := q.Check(PlanRules{}); len(got) != 0 {
			t.Errorf("%s: still refused: %v", name, got)
		}
	}
}

// Two subtasks may write one hot class, and one lock file, in different waves.
// In one wave nobody may: nothing makes a lock file again after a merge.
func TestPlanSharedFiles(t *testing.T) {
	t.Parallel()
	p := okPlan()
	p.Waves[0].Subtasks[0].WriteSet = []string{"internal/**", "package-lock.json", "db/migrations/001.sql"}
	p.Waves[0].Subtasks[1].WriteSet = []string{"web/**"}
	p.Waves[1].Subtasks[0].WriteSet = []string{"db/migrations/002.sql", "package-lock.json"}
	if got := p.Check(PlanRules{}); len(got) != 0 {
		t.Fatalf("refused: %v", got)
	}
	for _, shared := range []string{"package-lock.json", "internal/api.generated.go"} {
		p.Waves[0].Subtasks[1].WriteSet = []string{"web/**", shared}
		if got := p.Check(PlanRules{}); len(got) != 1 || !strings.Contains(got[0].What, "of the same wave writes") {
			t.Errorf("%s is written twice in a wave: %v", shared, got)
		}
	}
}

// What a subtask reads must be there when it begins: at the base, or from a
// wave before.
func TestPlanRefusesReadOfSameWaveOutput(t *testing.T) {
	t.Parallel()
	p := okPlan()
	p.Waves[0].Subtasks[0].WriteSet = []string{"internal/new.go"}
	p.Waves[0].Subtasks[1].WriteSet = []string{"web/**"}
	p.Waves[0].Subtasks[1].Context = []string{"internal/new.go", "be quick"}
	if got := p.Check(PlanRules{Files: []string{}}); len(got) != 1 ||
		!strings.Contains(got[0].What, "does not exist before subtask 1") {
		t.Errorf("of its own wave: %v", got)
	}
	p.Waves[0].Subtasks[1].Context = []string{"internal/new.go:1-20"}
	if got := p.Check(PlanRules{Files: []string{}}); len(got) != 1 {
		t.Errorf("lines of it: %v", got)
	}
	for why, rules := range map[string]PlanRules{"it is there": {Files: []string{"internal/new.go"}},
		"nobody looked": {}} {
		if got := p.Check(rules); len(got) != 0 {
			t.Errorf("%s: %v", why, got)
		}
	}
	p.Waves = append([]Wave{{Subtasks: []PlannedSubtask{okSubtask("begin new", "internal/**")}}}, p.Waves...)
	if got := p.Check(PlanRules{Files: []string{}}); len(got) != 0 {
		t.Errorf("an earlier wave writes it: %v", got)
	}
}

// A protected path that cannot be read protects nothing, so the plan is
// refused.
func TestPlanBadRules(t *testing.T) {
	t.Parallel()
	got := okPlan().Check(PlanRules{Protected: []string{"[a"}})
	if len(got) != 1 || got[0].Where != "rules" {
		t.Fatalf("got %v", got)
	}
}

// The check is bounded in problems and in time, whatever the manager sends.
func TestPlanCheckBounded(t *testing.T) {
	p := Plan{Why: "hostile"}
	for w := range 4 {
		wave := Wave{}
		for i := range 16 {
			s := okSubtask(fmt.Sprintf("Part %d of %d", i, w))
			for k := range 64 {
				s.WriteSet = append(s.WriteSet, strings.Repeat("*a", 30)+fmt.Sprintf("%d.%d", i, k))
			}
			wave.Subtasks = append(wave.Subtasks, s)
		}
		p.Waves = append(p.Waves, wave)
	}
	start := time.Now()
	got := p.Check(PlanRules{})
	if len(got) != MaxPlanProblems {
		t.Fatalf("%d problems, want %d", len(got), MaxPlanProblems)
	}
	t.Logf("%v for 64 subtasks with 64 costly globs each", time.Since(start))
}

// A plan whose globs are too costly to be compared with protected paths is refused for that.
func TestPlanOfCostlyGlobs(t *testing.T) {
	t.Parallel()
	p := Plan{Why: "hostile"}
	for w := range 4 {
		wave := Wave{}
		for i := range 16 {
			s := okSubtask(fmt.Sprintf("Part %d of %d", i, w))
			for k := range 64 {
				s.WriteSet = append(s.WriteSet,
					fmt.Sprintf("{%sz,**/%sb}/%d.%d.%d", strings.Repeat("{a,b}", 5), strings.Repeat("*a", 6), w, i, k))
			}
			s.After = nil
			wave.Subtasks = append(wave.Subtasks, s)
		}
		p.Waves = append(p.Waves, wave)
	}
	protected := make([]string, 300)
	for i := range protected {
		protected[i] = fmt.Sprintf("**/%sb/%d", strings.Repeat("*a", 400), i)
	}
	got := p.Check(PlanRules{Protected: protected})
	if !slices.ContainsFunc(got, func(p PlanProblem) bool {
		return p.Where == "plan" && strings.Contains(p.What, "too complex")
	}) {
		t.Errorf("%d problems: %v", len(got), got)
	}
}

// T3: to read a glob takes time by its size, braces expanded, and the office waits for the decision on
// a plan. So all globs of a plan have a size together, and the second look at it reads none.
func TestGlobsOfAPlanAreBounded(t *testing.T) { // alone: it counts pieces of memory
	plan := func(subtasks int) Plan {
		p := Plan{Why: "hostile", Waves: []Wave{{}}}
		for i := range subtasks {
			s := okSubtask(fmt.Sprintf("Part %d", i))
			s.WriteSet = nil
			for k := range 50 {
				s.WriteSet = append(s.WriteSet, fmt.Sprintf("p%d-%d/%s", i, k, strings.Repeat("*a", 480)))
			}
			p.Waves[0].Subtasks = append(p.Waves[0].Subtasks, s)
		}
		return p
	}
	if got := plan(2).Check(PlanRules{}); len(got) > 0 {
		t.Errorf("100 large globs: %v", got)
	}
	got := plan(3).Check(PlanRules{})
	if !slices.ContainsFunc(got, func(p PlanProblem) bool {
		return p.Where == "plan" && strings.Contains(p.What, "too complex")
	}) {
		t.Errorf("150 large globs: %v", got)
	}
	large := plan(16)
	if n := testing.AllocsPerRun(1, func() { large.Warnings() }); n > 10_000 {
		t.Errorf("%v pieces of memory for the warnings of a plan", n)
	}
}

// Feature: agent-execution-engine, Property 2: Task Decomposition Independence
//
// Write sets that are accepted in one wave are never both matched by a path,
// and a check says the same each time (SUB-8, SUB-18).
func TestPlanDisjointProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{Why: "generated", Waves: []Wave{{}}}
		for i := range rapid.IntRange(2, 4).Draw(t, "n") {
			s := okSubtask(fmt.Sprintf("Part %d", i))
			for range rapid.IntRange(1, 2).Draw(t, "globs") {
				s.WriteSet = append(s.WriteSet, globtest.Generate(t, "glob"))
			}
			p.Waves[0].Subtasks = append(p.Waves[0].Subtasks, s)
		}
		got := p.Check(PlanRules{})
		if again := p.Check(PlanRules{}); fmt.Sprint(got) != fmt.Sprint(again) {
			t.Fatalf("two answers:\n%v\n%v", got, again)
		}
		if len(got) > 0 {
			return
		}
		for _, path := range globtest.SmallPaths {
			owner := -1
			for i, s := range p.Waves[0].Subtasks {
				for _, w := range s.WriteSet {
					g, err := glob.Parse(w)
					if err != nil {
						t.Fatal(err)
					}
					if g.Match(path) {
						if owner >= 0 && owner != i {
							t.Fatalf("%q belongs to subtasks %d and %d of %+v", path, owner, i, p)
						}
						owner = i
					}
				}
			}
		}
	})
}

// PlanSchema accepts exactly the wire form of Plan.
func TestPlanSchema(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(PlanSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(b []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	plan := okPlan()
	plan.Waves[0].Subtasks[0].Context = []string{"go.mod"}
	good, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(good); err != nil {
		t.Fatalf("the wire form of a plan is refused: %v", err)
	}
	for _, name := range []string{"waves", "subtasks", "title", "description", "acceptance_criteria", "write_set",
		"effort", "context", "why"} {
		bad := bytes.Replace(good, []byte(`"`+name+`":`), []byte(`"depends_on":`), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("no %q in %s", name, good)
		}
		if valid(bad) == nil {
			t.Errorf("%q may be replaced by an unknown key", name)
		}
	}
	if valid(bytes.Replace(good, []byte(`"medium"`), []byte(`"huge"`), 1)) == nil {
		t.Error("an unknown effort is accepted")
	}
}

// What runs with a repository's secrets once it is pushed is nobody's to change
// unasked, whoever runs it (T14).
func TestCIOfOthersIsProtected(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		".github/workflows/a.yml", ".circleci/config.yml", ".woodpecker.yml", ".woodpecker/a.yaml", ".drone.yml",
		".drone.yaml", ".buildkite/pipeline.yml",
		".travis.yml", "Jenkinsfile", "Jenkinsfile.release", "ci/Jenkinsfile", "azure-pipelines.yml",
		"azure-pipelines-nightly.yaml", "bitbucket-pipelines.yml",
		"appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".semaphore/semaphore.yml", ".teamcity/settings.kts", "action.yml",
		"tools/setup/action.yaml",
		".gitlab-ci.yml", "ci/.gitlab-ci-lint.yml", "cloudbuild.yaml", "deploy/cloudbuild.yml",
		".lfsconfig", ".build.yml", ".builds/a.yml", ".tekton/push.yaml", ".zuul.yaml", "zuul.d/jobs.yaml", "buildspec.yml",
		".buildkite.yml", ".mergify.yml",
		".pre-commit-config.yaml", "netlify.toml", "vercel.json", ".readthedocs.yaml", ".devcontainer/devcontainer.json",
		".devcontainer.json", ".vscode/tasks.json",
		".idea/runConfigurations/a.xml", ".husky/pre-commit", "lefthook.yml", ".lefthook-local.yml", ".envrc", "sub/.envrc",
		"renovate.json", ".renovaterc.json", "mise.toml",
		".claude/settings.json", ".mcp.json", "api.code-workspace", ".lintstagedrc.js",
		"Company.yaml", "a/COMPANY.YAML", ".GitHub/workflows/x.yml", ".Vscode/tasks.json", "jenkinsfile",
		"company.yaml.", ".envrc ",
	} {
		if !(PlanRules{}).IsProtected(p) {
			t.Errorf("%s is not protected", p)
		}
	}
	for _, p := range []string{"reaction.yml", "vscode/tasks.json", "docs/husky.md", "build.yml", "company.yml",
		"docs/circleci.md", "internal/jenkins/file.go", "actions.yml", "drone.yml", "web/.travis.yml/x"} {
		if (PlanRules{}).IsProtected(p) {
			t.Errorf("%s is protected", p)
		}
	}
}

// Code of others in the repository may be planned with, and is merged with the
// president's approval.
func TestVendoredCodeNeedsLeave(t *testing.T) {
	t.Parallel()
	for action, asked := range map[string]bool{"created": false, "modified": true, "deleted": true} {
		s := newStory(t, Settings{}).plan(1)
		s.changes(1, Change{Path: "vendor/example.org/assert/assert.go", Action: action})
		if w := s.s.MergeQuestion(s.task(), s.sub(1)); (w != nil && w.Kind == AskProtected) != asked {
			t.Errorf("%s: %+v", action, w)
		}
	}
	for p, want := range map[string]bool{"vendor/modules.txt": false, "static/vendor/jquery.js": false,
		"api/vendor/x/y.go": true, "web/node_modules/x/index.js": true} {
		if ChangesGuardedCode(Change{Path: p, Action: "modified"}) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}
