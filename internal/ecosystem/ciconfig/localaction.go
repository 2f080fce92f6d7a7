package ciconfig

import (
	"cmp"
	"path"
	"strings"
)

// maxActionDepth limits how deep actions of the tree may use one another.
const maxActionDepth = 3

// addLocalActions adds the steps of the repository's own actions to the jobs that use them, because these commands
// belong to its CI, too.
func (r *reader) addLocalActions(jobs []Job) {
	for i := range jobs {
		for _, a := range jobs[i].Actions {
			r.addActionSteps(&jobs[i], a, 0)
		}
	}
}

func (r *reader) addActionSteps(job *Job, action Action, depth int) {
	tree := r.tree
	rest, isLocal := strings.CutPrefix(action.Name, "./")
	dir, elsewhere := joinDir(rest)
	if !isLocal || elsewhere || depth == maxActionDepth {
		return
	}
	file := "action.yml"
	if !tree.HasFile(dir, file) {
		file = "action.yaml"
	}
	root, err := tree.ReadYAML(dir, file)
	if err != nil || root == nil {
		return
	}
	for _, yamlValue := range root.Field("runs").Field("steps").List() {
		// Actions may use one another in thousands of ways without any script.
		if r.room--; r.room < 0 || len(job.Steps) >= maxSteps {
			return
		}
		if neverRuns(yamlValue, nil) {
			continue
		}
		used, _, _ := strings.Cut(yamlValue.FieldText("uses"), "@")
		r.addActionSteps(job, Action{Name: used, aside: action.aside}, depth+1)
		run := yamlValue.Field("run")
		shell, _, _ := strings.Cut(path.Base(cmp.Or(yamlValue.FieldText("shell"), "bash")), " ")
		if run == nil || run.Text == "" || shell != "bash" && shell != "sh" {
			continue
		}
		one := Step{Script: run.Text, File: path.Join(dir, file), Line: run.Line, Env: readEnv(yamlValue.Field("env"), nil),
			Aside: cmp.Or(action.aside, asideOf(yamlValue))}
		one.Dir, one.Elsewhere = joinDir(yamlValue.FieldText("working-directory"))
		r.addStep(job, one)
	}
}
