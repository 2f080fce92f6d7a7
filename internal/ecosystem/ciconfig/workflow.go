package ciconfig

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// readWorkflow reads a workflow. It keeps the jobs on systems with a POSIX shell, and their steps that such a shell
// runs.
func (r *reader) readWorkflow(definition *Definition, root *ecosystem.YAMLValue) {
	jobs := root.Field("jobs")
	if jobs == nil {
		return
	}
	env, aside := readEnv(root.Field("env"), nil), asideOfEvents(root.Field("on"))
	for _, yamlField := range jobs.Fields {
		if len(definition.Jobs) == maxJobs || r.room < 0 {
			break
		}
		variants := readMatrix(yamlField.Value.Field("strategy").Field("matrix"))
		if neverRuns(yamlField.Value, variants.systems(yamlField.Value.Field("runs-on"))) {
			continue
		}
		if name, _, _ := strings.Cut(yamlField.Value.FieldText("uses"), "@"); name != "" && !strings.HasPrefix(name, "./") &&
			aside == "" {
			definition.Foreign = append(definition.Foreign, Action{Name: name, Line: yamlField.Line})
		}
		job := Job{Name: yamlField.Key, Line: yamlField.Line, Image: yamlField.Value.FieldText("container"),
			Env: readEnv(yamlField.Value.Field("env"), env)}
		job.Image = cmp.Or(job.Image, yamlField.Value.Field("container").FieldText("image"))
		job.Services = readServices(yamlField.Value.Field("services"))
		r.readSteps(&job, yamlField.Value, root.Field("defaults").Field("run"), variants,
			cmp.Or(aside, asideOf(yamlField.Value)))
		if len(job.Steps)+len(job.Services)+len(job.Actions)+len(job.Packages) > 0 {
			definition.Jobs = append(definition.Jobs, job)
		}
	}
}

// readServices reads the services of a job.
func readServices(services *ecosystem.YAMLValue) (out []Service) {
	if services == nil {
		return nil
	}
	for _, yamlField := range services.Fields {
		service := Service{Name: yamlField.Key, Image: cmp.Or(yamlField.Value.FieldText("image"), yamlField.Value.Text),
			Env: readEnv(yamlField.Value.Field("env"), nil), Line: yamlField.Line}
		for _, p := range yamlField.Value.Field("ports").List() {
			service.Ports = append(service.Ports, p.Text)
		}
		out = append(out, service)
	}
	return out
}

// readSteps reads the steps of a job. top holds the defaults of its workflow. aside is the reason why the CI does not
// judge changes by the job, if any.
func (r *reader) readSteps(j *Job, job, top *ecosystem.YAMLValue, variants matrix, aside string) {
	own := job.Field("defaults").Field("run")
	var out checkouts
	steps := job.Field("steps").List()
	for _, yamlValue := range steps {
		if neverRuns(yamlValue, nil) {
			continue
		}
		out.add(yamlValue)
		reason := cmp.Or(aside, asideOf(yamlValue))
		if reason == asideSoft && aside == "" && isAskedFor(yamlValue.FieldText("id"), steps) {
			reason = ""
		}
		if name, _, _ := strings.Cut(yamlValue.FieldText("uses"), "@"); name != "" && len(j.Actions) < maxSteps {
			j.Actions = append(
				j.Actions,
				Action{Name: name, Line: yamlValue.Line, Versions: variants.listVersions(yamlValue.Field("with")), aside: reason})
		}
		j.Packages = append(j.Packages, readActionPackages(yamlValue)...)
		run := yamlValue.Field("run")
		if command := yamlValue.Field("with").FieldText("command"); command != "" &&
			cargoActionRE.MatchString(yamlValue.FieldText("uses")) {
			run = &ecosystem.YAMLValue{Text: strings.TrimSpace(
				"cargo " + command + " " + yamlValue.Field("with").FieldText("args")),
				Line: yamlValue.Line}
		}
		shell := cmp.Or(yamlValue.FieldText("shell"), own.FieldText("shell"), top.FieldText("shell"), "bash")
		name, _, _ := strings.Cut(path.Base(shell), " ")
		if run == nil || run.Text == "" || name != "bash" && name != "sh" || len(j.Steps) == maxSteps || r.room < 0 {
			continue
		}
		dir := cmp.Or(yamlValue.FieldText("working-directory"), own.FieldText("working-directory"),
			top.FieldText("working-directory"))
		// Variables of the job that depend on the matrix apply to each of its steps.
		env := readEnv(yamlValue.Field("env"), nil)
		for name, value := range j.Env {
			if _, has := env[name]; !has && matrixRE.MatchString(value) {
				env[name] = value
			}
		}
		for _, one := range variants.expandStep(
			Step{Script: expandEnv(run.Text, env, j.Env), Line: run.Line, Dir: dir, Env: env, Aside: reason}) {
			foreign := false
			if one.Dir, one.Elsewhere, foreign = out.place(one.Dir); foreign {
				one.Aside = asideForeign
			}
			r.addStep(j, one)
		}
	}
}

// cargoActionRE matches an action that runs the cargo subcommand in its inputs.
var cargoActionRE = lazyregexp.New(`^[\w.-]+/cargo@`)

// isAskedFor reports whether the condition of a step tests the result of the step with this id. In that case the step
// may fail, because the job handles the failure.
func isAskedFor(id string, steps []*ecosystem.YAMLValue) bool {
	return id != "" && slices.ContainsFunc(steps[:min(len(steps), maxSteps)], func(s *ecosystem.YAMLValue) bool {
		return strings.Contains(s.FieldText("if"), "steps."+id+".")
	})
}

// envRE matches a variable in a script that the CI replaces before a shell reads it.
var envRE = lazyregexp.New(`\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// maxEnvValue limits the bytes of a value that is inserted into a script. A script can at most double in size.
const maxEnvValue = 200

// expandEnv replaces variables in a script whose values the definition contains literally.
func expandEnv(script string, all ...map[string]string) string {
	room := len(script)
	return envRE.ReplaceAllStringFunc(script, func(found string) string {
		name := envRE.FindStringSubmatch(found)[1]
		for _, env := range all {
			if value, ok := env[name]; ok {
				if len(value) > maxEnvValue || strings.ContainsAny(value, "$`\n") || len(value) > room {
					return found
				}
				room -= len(value)
				return value
			}
		}
		return found
	})
}
