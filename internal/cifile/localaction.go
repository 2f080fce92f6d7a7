package cifile

import (
	"cmp"
	"path"
	"strings"

	"company/internal/ecosystem"
)

// maxActionDepth bounds actions of the tree that use one another.
const maxActionDepth = 3

// addLocalActions adds to jobs the steps of the actions that the repository itself has and they use:
// their commands are as much its CI's as those of the workflow.
func addLocalActions(t *ecosystem.Tree, jobs []Job) {
	for i := range jobs {
		for _, a := range jobs[i].Actions {
			jobs[i].addSteps(t, a.Name, 0)
		}
	}
}

func (j *Job) addSteps(t *ecosystem.Tree, name string, depth int) {
	rest, isLocal := strings.CutPrefix(name, "./")
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
		if neverRuns(s) {
			continue
		}
		used, _, _ := strings.Cut(s.FieldText("uses"), "@")
		j.addSteps(t, used, depth+1)
		run := s.Field("run")
		shell, _, _ := strings.Cut(path.Base(cmp.Or(s.FieldText("shell"), "bash")), " ")
		if run == nil || run.Text == "" || shell != "bash" && shell != "sh" || len(j.Steps) >= maxSteps {
			continue
		}
		one := Step{Script: run.Text, File: path.Join(dir, file), Line: run.Line, Env: readEnv(s.Field("env"), nil)}
		one.Dir, one.Elsewhere = joinDir(s.FieldText("working-directory"))
		j.Steps = append(j.Steps, one)
	}
}
