package cifile

import (
	"cmp"
	"path"
	"strings"
)

// maxActionDepth bounds actions of the tree that use one another.
const maxActionDepth = 3

// addLocalActions adds to jobs the steps of the actions that the repository itself has and they use:
// their commands are as much its CI's as those of the workflow.
func (r *reader) addLocalActions(jobs []Job) {
	for i := range jobs {
		for _, a := range jobs[i].Actions {
			r.addActionSteps(&jobs[i], a, 0)
		}
	}
}

func (r *reader) addActionSteps(j *Job, a Action, depth int) {
	t := r.tree
	rest, isLocal := strings.CutPrefix(a.Name, "./")
	dir, elsewhere := joinDir(rest)
	if !isLocal || elsewhere || depth == maxActionDepth {
		return
	}
	file := "action.yml"
	if !t.HasFile(dir, file) {
		file = "action.yaml"
	}
	root, err := t.ReadYAML(dir, file)
	if err != nil || root == nil {
		return
	}
	for _, s := range root.Field("runs").Field("steps").List() {
		// Actions may use one another in thousands of ways, and have no script in any of them.
		if r.room--; r.room < 0 || len(j.Steps) >= maxSteps {
			return
		}
		if neverRuns(s, nil) {
			continue
		}
		used, _, _ := strings.Cut(s.FieldText("uses"), "@")
		r.addActionSteps(j, Action{Name: used, aside: a.aside}, depth+1)
		run := s.Field("run")
		shell, _, _ := strings.Cut(path.Base(cmp.Or(s.FieldText("shell"), "bash")), " ")
		if run == nil || run.Text == "" || shell != "bash" && shell != "sh" {
			continue
		}
		one := Step{Script: run.Text, File: path.Join(dir, file), Line: run.Line, Env: readEnv(s.Field("env"), nil), Aside: cmp.Or(a.aside, asideOf(s))}
		one.Dir, one.Elsewhere = joinDir(s.FieldText("working-directory"))
		r.addStep(j, one)
	}
}
