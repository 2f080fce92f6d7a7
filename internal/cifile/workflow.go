package cifile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// readWorkflow reads a workflow: its jobs on systems with a POSIX shell, and of
// those the steps that such a shell runs.
func readWorkflow(root *ecosystem.YAMLValue) []Job {
	jobs := root.Field("jobs")
	if jobs == nil {
		return nil
	}
	env := readEnv(root.Field("env"), nil)
	top := root.Field("defaults").Field("run")
	var out []Job
	for _, f := range jobs.Fields {
		if len(out) == maxJobs {
			break
		}
		v := f.Value
		if neverRuns(v) {
			continue
		}
		if slices.ContainsFunc(v.Field("runs-on").List(), func(on *ecosystem.YAMLValue) bool {
			return strings.HasPrefix(on.Text, "windows") || strings.HasPrefix(on.Text, "macos")
		}) {
			continue
		}
		variants := readMatrix(v.Field("strategy").Field("matrix"))
		j := Job{Name: f.Key, Line: f.Line, Image: v.FieldText("container"), Env: readEnv(v.Field("env"), env)}
		j.Image = cmp.Or(j.Image, v.Field("container").FieldText("image"))
		if services := v.Field("services"); services != nil {
			for _, s := range services.Fields {
				service := Service{Name: s.Key, Image: cmp.Or(s.Value.FieldText("image"), s.Value.Text), Env: readEnv(s.Value.Field("env"), nil), Line: s.Line}
				for _, p := range s.Value.Field("ports").List() {
					service.Ports = append(service.Ports, p.Text)
				}
				j.Services = append(j.Services, service)
			}
		}
		own := v.Field("defaults").Field("run")
		for _, s := range v.Field("steps").List() {
			if neverRuns(s) {
				continue
			}
			if name, _, _ := strings.Cut(s.FieldText("uses"), "@"); name != "" && len(j.Actions) < maxSteps {
				j.Actions = append(j.Actions, Action{Name: name, Line: s.Line, Versions: variants.listVersions(s.Field("with"))})
			}
			j.Packages = append(j.Packages, readActionPackages(s)...)
			run := s.Field("run")
			shell := cmp.Or(s.FieldText("shell"), own.FieldText("shell"), top.FieldText("shell"), "bash")
			name, _, _ := strings.Cut(path.Base(shell), " ")
			if run == nil || run.Text == "" || name != "bash" && name != "sh" || len(j.Steps) == maxSteps {
				continue
			}
			dir := cmp.Or(s.FieldText("working-directory"), own.FieldText("working-directory"), top.FieldText("working-directory"))
			// What the job says of a variant counts for each of its steps.
			env := readEnv(s.Field("env"), nil)
			for name, value := range j.Env {
				if _, has := env[name]; !has && matrixRE.MatchString(value) {
					env[name] = value
				}
			}
			for _, one := range variants.expandStep(Step{Script: run.Text, Line: run.Line, Dir: dir, Env: env}) {
				if len(j.Steps) < maxSteps {
					one.Dir, one.Elsewhere = joinDir(one.Dir)
					j.Steps = append(j.Steps, one)
				}
			}
		}
		if len(j.Steps)+len(j.Services)+len(j.Actions)+len(j.Packages) > 0 {
			out = append(out, j)
		}
	}
	return out
}

// neverRE is a condition that holds for no event: what has it is switched off.
var neverRE = lazyregexp.New(`^(false|\$\{\{\s*false\s*\}\})$`)

// neverRuns says whether a job or a step is switched off.
func neverRuns(v *ecosystem.YAMLValue) bool {
	return neverRE.MatchString(strings.ToLower(strings.TrimSpace(v.FieldText("if"))))
}
