// Package cifile reads what a repository's CI definitions say that is run: the
// workflows of GitHub (Gitea's and Forgejo's, too) with the actions of the repository itself, .gitlab-ci.yml
// with the files that it includes, and .travis.yml. It
// owns their shapes as far as commands and services go, and promises that a file
// which cannot be read is a problem with its line, and costs no more than its
// bounds. Steps for other systems than Linux are left out; of those by which the CI judges no
// change of this repository it says why. It is text in and data out, and judges no command: that
// is for package proposal. Of actions it says, by their names alone, whether they check.
package cifile

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Definition is one file that defines jobs.
type Definition struct {
	File    string
	Jobs    []Job
	Problem string // why it could not be read, or not all of it, for people
	// Foreign are definitions that it runs and that are not in this repository: workflows of others, templates and remote files.
	Foreign []Action
	// included are the files of the tree that it consists of beside its own.
	included []string
}

// Job is one job: the services that run beside it, and its steps.
type Job struct {
	Name     string
	Line     int
	Image    string // the container that its steps run in, where it names one
	Env      map[string]string
	Services []Service
	Steps    []Step
	Actions  []Action
	Packages []string // of apt, that it installs by other means than a step
}

// Service is a program that runs beside a job, such as a database.
type Service struct {
	Name  string // by which the job reaches it
	Image string // with its tag, as the file has it
	Env   map[string]string
	Ports []string
	Line  int
}

// Step is a script for a shell. It may hold ${{ … }}, whose value only the CI knows.
type Step struct {
	Script string
	File   string // that has it, where that is not the definition
	Line   int    // of the script's first line
	Dir    string
	// Elsewhere says that its folder is out of the tree, or known to the CI alone; Dir is empty then.
	Elsewhere bool
	Env       map[string]string // of the step alone
	// Continues says that the step before it runs in the same shell: its folder and its variables last.
	Continues bool
	// Aside says why the CI does not judge a change of this repository by it; empty: it does.
	Aside string
}

// Reasons of steps by which the CI does not judge a change.
const (
	asideSoft    = "its CI goes on when it fails"
	asideLater   = "its CI does not run it for a change"
	asideForeign = "it checks another repository"
)

// Action is a step that others have written, such as golangci/golangci-lint-action.
type Action struct {
	Name     string // without its version
	Line     int
	Versions []string // of its inputs such as node-version, in all variants
	// aside is why the CI judges no change by it.
	aside string
}

// checkerRE is the name of an action that checks.
var checkerRE = lazyregexp.New(`(?i)(lint|vet|staticcheck|typos|spell|reviewdog|semgrep|pre-commit|ruff|black|mypy|biome|eslint|prettier|test)`)

// IsCheck says, by its name, whether an action checks the repository.
func (a Action) IsCheck() bool {
	name := path.Base(a.Name)
	return checkerRE.MatchString(name) && !strings.HasPrefix(name, "setup-")
}

// Bounds of a read, for a repository that has hundreds of workflows.
const (
	maxFiles = 40
	maxJobs  = 200 // of one file
	maxSteps = 200 // of one job
	maxEnv   = 500 // variables of one job: each job has those of its file, too
	// maxScripts bounds the scripts of all steps of a tree together, in bytes. A script that a file has once may stand in each
	// of its jobs by an alias, and for each value of a matrix.
	maxScripts = 1 << 20
)

// errScripts is the problem of a definition whose scripts have no room.
const errScripts = "the scripts of all jobs, with those that they use, are more than is read (1 MiB)"

// workflowDirs are the folders of workflows: GitHub's, and those of forges that
// read the same files.
var workflowDirs = []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows"}

// reader reads the definitions of one tree.
type reader struct {
	tree *ecosystem.Tree
	room int // bytes of scripts that there is room for
	// matching is what is left of maxMatching.
	matching int
}

// ReadDefinitions reads the definitions of a tree, in the order of their names.
func ReadDefinitions(t *ecosystem.Tree) []Definition {
	r := &reader{tree: t, room: maxScripts, matching: maxMatching}
	type definition struct {
		file string
		read func(*Definition, *ecosystem.YAMLValue)
	}
	var all []definition
	for _, dir := range workflowDirs {
		names := slices.Sorted(slices.Values(t.Dirs[dir]))
		for _, name := range names {
			if ext := path.Ext(name); ext == ".yml" || ext == ".yaml" {
				all = append(all, definition{path.Join(dir, name), r.readWorkflow})
			}
		}
	}
	for name, read := range map[string]func(*Definition, *ecosystem.YAMLValue){".gitlab-ci.yml": r.readPipeline, ".travis.yml": r.readTravis} {
		if t.HasFile("", name) {
			all = append(all, definition{name, read})
		}
	}
	slices.SortStableFunc(all, func(a, b definition) int { return strings.Compare(a.file, b.file) })
	var out []Definition
	if len(all) > maxFiles {
		out = append(out, Definition{File: all[maxFiles].file, Problem: fmt.Sprintf("there are %d definitions, and the first %d are read", len(all), maxFiles)})
	}
	for _, one := range all[:min(len(all), maxFiles)] {
		dir, name := ecosystem.SplitPath(one.file)
		switch root, err := t.ReadYAML(dir, name); {
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

// addStep adds a step to a job where there is room for both.
func (r *reader) addStep(j *Job, s Step) {
	if r.room < 0 || len(j.Steps) >= maxSteps {
		return
	}
	if r.room -= len(s.Script) + 1; r.room >= 0 {
		j.Steps = append(j.Steps, s)
	}
}

// readEnv returns the variables of a mapping and of those above it, at most maxEnv.
func readEnv(v *ecosystem.YAMLValue, above map[string]string) map[string]string {
	out := maps.Clone(above)
	if out == nil {
		out = map[string]string{}
	}
	if v != nil {
		for _, f := range v.Fields {
			if _, has := out[f.Key]; !has && len(out) == maxEnv {
				continue
			}
			if out[f.Key] = f.Value.Text; f.Value.Fields != nil { // GitLab's {value: …, description: …}
				out[f.Key] = f.Value.FieldText("value")
			}
		}
	}
	return out
}

// workspaceRE is the root of the tree, as a CI names it.
var workspaceRE = lazyregexp.New(`^(\$\{\{\s*github\.workspace\s*\}\}|\$GITHUB_WORKSPACE|\$\{GITHUB_WORKSPACE\})(/|$)`)

// joinDir is a working folder of a step as a folder of the tree. It is elsewhere where it points out
// of the tree, or has a value that only the CI knows.
func joinDir(dir string) (folder string, elsewhere bool) {
	dir = strings.TrimPrefix(workspaceRE.ReplaceAllString(strings.TrimSpace(dir), ""), "./")
	if dir == "" {
		return "", false
	}
	if dir = path.Clean(dir); strings.Contains(dir, "$") || path.IsAbs(dir) || dir == ".." || strings.HasPrefix(dir, "../") {
		return "", true
	}
	if dir == "." {
		dir = ""
	}
	return dir, false
}
