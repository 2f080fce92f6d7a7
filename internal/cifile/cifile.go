// Package cifile reads what a repository's CI definitions say that is run: the
// workflows of GitHub (Gitea's and Forgejo's, too) with the actions of the repository itself, .gitlab-ci.yml and .travis.yml. It
// owns their shapes as far as commands and services go, and promises that a file
// which cannot be read is a problem with its line, and costs no more than its
// bounds. It is text in and data out, and judges no command: that is for package
// proposal. Of actions it says, by their names alone, whether they check.
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
}

// Action is a step that others have written, such as golangci/golangci-lint-action.
type Action struct {
	Name     string // without its version
	Line     int
	Versions []string // that it is told to set up, such as those of node-version, in all variants
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
)

// workflowDirs are the folders of workflows: GitHub's, and those of forges that
// read the same files.
var workflowDirs = []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows"}

// ReadDefinitions reads the definitions of a tree, in the order of their names.
func ReadDefinitions(t *ecosystem.Tree) []Definition {
	type reader struct {
		file string
		read func(*ecosystem.YAMLValue) []Job
	}
	var all []reader
	for _, dir := range workflowDirs {
		names := slices.Sorted(slices.Values(t.Dirs[dir]))
		for _, name := range names {
			if ext := path.Ext(name); ext == ".yml" || ext == ".yaml" {
				all = append(all, reader{path.Join(dir, name), readWorkflow})
			}
		}
	}
	for name, read := range map[string]func(*ecosystem.YAMLValue) []Job{".gitlab-ci.yml": readPipeline, ".travis.yml": readTravis} {
		if t.HasFile("", name) {
			all = append(all, reader{name, read})
		}
	}
	slices.SortStableFunc(all, func(a, b reader) int { return strings.Compare(a.file, b.file) })
	var out []Definition
	if len(all) > maxFiles {
		out = append(out, Definition{File: all[maxFiles].file, Problem: fmt.Sprintf("there are %d definitions, and the first %d are read", len(all), maxFiles)})
	}
	for _, r := range all[:min(len(all), maxFiles)] {
		dir, name := ecosystem.SplitPath(r.file)
		switch root, err := t.ReadYAML(dir, name); {
		case err != nil:
			out = append(out, Definition{File: r.file, Problem: err.Error()})
		case root != nil:
			d := Definition{File: r.file, Jobs: r.read(root)}
			addLocalActions(t, d.Jobs)
			if len(d.Jobs) == maxJobs || slices.ContainsFunc(d.Jobs, func(j Job) bool { return len(j.Steps) >= maxSteps }) {
				d.Problem = fmt.Sprintf("of its jobs the first %d are read, and of each the first %d steps", maxJobs, maxSteps)
			}
			out = append(out, d)
		}
	}
	return out
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
