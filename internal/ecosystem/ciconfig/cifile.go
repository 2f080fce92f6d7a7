// Package ciconfig reads the commands in a repository's CI definitions. It supports GitHub workflows (also for Gitea
// and Forgejo) with the repository's own actions, .gitlab-ci.yml with included files, and .travis.yml. It models only
// commands and services. An unreadable file is reported as a problem with its line, and reading is limited in size.
// It skips steps for systems other than Linux. If the CI does not judge changes of this repository by a step, the
// step has the reason. The package only turns text into data. Package checkfinder decides which commands are checks.
// Only for actions does this package decide by their names whether they check.
package ciconfig

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Definition is one file that defines jobs.
type Definition struct {
	File    string
	Jobs    []Job
	Problem string // the reason, for users, why it could not be read completely
	// Foreign lists definitions outside of this repository that it runs: workflows of others, templates and remote
	// files.
	Foreign []Action
	// included lists the other files of the tree that belong to it.
	included []string
}

// Job is one job with its services and steps.
type Job struct {
	Name     string
	Line     int
	Image    string // the container of its steps, if it names one
	Env      map[string]string
	Services []Service
	Steps    []Step
	Actions  []Action
	Packages []string // apt packages that it installs without a script
}

// Service is a program that runs beside a job, such as a database.
type Service struct {
	Name  string // the name by which the job reaches it
	Image string // with its tag, as written in the file
	Env   map[string]string
	Ports []string
	Line  int
}

// Step is a shell script. It may contain ${{ … }}, whose value only the CI knows.
type Step struct {
	Script string
	File   string // the file with the script, if it is not the definition
	Line   int    // of the script's first line
	Dir    string
	// Elsewhere means that its folder is outside of the tree or known only to the CI. Dir is then empty.
	Elsewhere bool
	Env       map[string]string // only of this step
	// Continues means that it runs in the same shell as the previous step and keeps its folder and variables.
	Continues bool
	// Aside is the reason why the CI does not judge changes of this repository by the step. If empty, the CI does.
	Aside string
}

// Reasons why the CI does not judge changes by a step.
const (
	asideSoft    = "its CI goes on when it fails"
	asideLater   = "its CI does not run it for a change"
	asideForeign = "it checks another repository"
)

// Action is a step that uses a published action, such as golangci/golangci-lint-action.
type Action struct {
	Name     string // without its version
	Line     int
	Versions []string // of its inputs such as node-version, in all variants
	// aside is the reason why the CI does not judge changes by it.
	aside string
}

// checkerRE matches the name of an action that checks.
var checkerRE = lazyregexp.New(
	`(?i)(lint|vet|staticcheck|typos|spell|reviewdog|semgrep|pre-commit|ruff|black|isort|flake8|mypy|pyright|biome|prettier|clippy|cargo-deny|format|test|cypress|playwright|check([-_]|$))`)

// plainActionRE matches an action name without meaning, so that only its owner's name tells its purpose, as in
// pre-commit/action.
var plainActionRE = lazyregexp.New(`^(gh-|github-)?actions?$`)

// IsCheck reports whether an action, by its name, checks the repository.
func (a Action) IsCheck() bool {
	name := path.Base(a.Name)
	if plainActionRE.MatchString(name) {
		name = path.Dir(a.Name)
	}
	return checkerRE.MatchString(name) && !strings.HasPrefix(name, "setup-")
}

// Limits for reading a repository with hundreds of workflows.
const (
	maxFiles = 40
	maxJobs  = 200 // of one file
	maxSteps = 200 // of one job
	maxEnv   = 500 // variables of one job, including those of its file
	// maxScripts limits the total bytes of all scripts in a tree. With aliases and matrix values, one script in a file
	// may occur in every job and for each value.
	maxScripts = 1 << 20
)

// errScripts is the problem of a definition whose scripts exceed the limit.
const errScripts = "the scripts of all jobs and the files that they use exceed the limit of 1 MiB"

// workflowDirs lists the folders of workflows on GitHub and on forges that read the same files.
var workflowDirs = []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows"}

// reader reads the definitions of one tree.
type reader struct {
	tree *ecosystem.Tree
	room int // bytes of scripts that may still be read
	// matching is the rest of maxMatching.
	matching int
}

// ReadDefinitions reads the definitions of a tree, sorted by name.
func ReadDefinitions(tree *ecosystem.Tree) []Definition {
	r := &reader{tree: tree, room: maxScripts, matching: maxMatching}
	type definition struct {
		file string
		read func(*Definition, *ecosystem.YAMLValue)
	}
	var definitions []definition
	for _, dir := range workflowDirs {
		names := slices.Sorted(slices.Values(tree.Dirs[dir]))
		for _, name := range names {
			if ext := path.Ext(name); ext == ".yml" || ext == ".yaml" {
				definitions = append(definitions, definition{path.Join(dir, name), r.readWorkflow})
			}
		}
	}
	for name, read := range map[string]func(*Definition, *ecosystem.YAMLValue){".gitlab-ci.yml": r.readPipeline,
		".travis.yml": r.readTravis} {
		if tree.HasFile("", name) {
			definitions = append(definitions, definition{name, read})
		}
	}
	slices.SortStableFunc(definitions, func(a, b definition) int { return strings.Compare(a.file, b.file) })
	var out []Definition
	if len(definitions) > maxFiles {
		out = append(out, Definition{File: definitions[maxFiles].file, Problem: fmt.Sprintf("there are %d definitions, and "+
			"the "+
			"first %d are read", len(definitions), maxFiles)})
	}
	for _, one := range definitions[:min(len(definitions), maxFiles)] {
		dir, name := ecosystem.SplitPath(one.file)
		switch root, err := tree.ReadYAML(dir, name); {
		case err != nil:
			out = append(out, Definition{File: one.file, Problem: err.Error()})
		case root != nil:
			d := Definition{File: one.file}
			one.read(&d, root)
			r.addLocalActions(d.Jobs)
			switch {
			case r.room < 0:
				d.Problem, r.room = errScripts, 0
			case len(d.Jobs) == maxJobs || slices.ContainsFunc(d.Jobs, func(j Job) bool { return len(j.Steps) >= maxSteps }):
				d.Problem = fmt.Sprintf("of its jobs the first %d are read, and of each the first %d steps", maxJobs, maxSteps)
			}
			out = append(out, d)
		}
	}
	return out
}

// addStep adds a step to a job within the limits.
func (r *reader) addStep(job *Job, step Step) {
	if r.room < 0 || len(job.Steps) >= maxSteps {
		return
	}
	if r.room -= len(step.Script) + 1; r.room >= 0 {
		job.Steps = append(job.Steps, step)
	}
}

// readEnv returns the variables of a mapping and of those above it, at most maxEnv.
func readEnv(yamlValue *ecosystem.YAMLValue, above map[string]string) map[string]string {
	out := maps.Clone(above)
	if out == nil {
		out = map[string]string{}
	}
	if yamlValue != nil {
		for _, yamlField := range yamlValue.Fields {
			if _, has := out[yamlField.Key]; !has && len(out) == maxEnv {
				continue
			}
			if out[yamlField.Key] = yamlField.Value.Text; yamlField.Value.Fields != nil { // GitLab's {value: …, description: …}
				out[yamlField.Key] = yamlField.Value.FieldText("value")
			}
		}
	}
	return out
}

// workspaceRE matches the root of the tree in the syntax of a CI.
var workspaceRE = lazyregexp.New(`^(\$\{\{\s*github\.workspace\s*\}\}|\$GITHUB_WORKSPACE|\$\{GITHUB_WORKSPACE\})(/|$)`)

// joinDir converts a step's working folder to a folder of the tree. elsewhere means that it is outside of the tree or
// depends on a value that only the CI knows.
func joinDir(dir string) (folder string, elsewhere bool) {
	dir = strings.TrimPrefix(workspaceRE.ReplaceAllString(strings.TrimSpace(dir), ""), "./")
	if dir == "" {
		return "", false
	}
	if dir = path.Clean(dir); strings.Contains(dir, "$") || path.IsAbs(dir) || dir == ".." ||
		strings.HasPrefix(dir, "../") {
		return "", true
	}
	if dir == "." {
		dir = ""
	}
	return dir, false
}
