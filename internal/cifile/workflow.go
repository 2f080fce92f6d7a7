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
func (r *reader) readWorkflow(d *Definition, root *ecosystem.YAMLValue) {
	jobs := root.Field("jobs")
	if jobs == nil {
		return
	}
	env, aside := readEnv(root.Field("env"), nil), asideOfEvents(root.Field("on"))
	for _, f := range jobs.Fields {
		if len(d.Jobs) == maxJobs || r.room < 0 {
			break
		}
		variants := readMatrix(f.Value.Field("strategy").Field("matrix"))
		if neverRuns(f.Value, variants.systems(f.Value.Field("runs-on"))) {
			continue
		}
		if name, _, _ := strings.Cut(f.Value.FieldText("uses"), "@"); name != "" && !strings.HasPrefix(name, "./") && aside == "" {
			d.Foreign = append(d.Foreign, Action{Name: name, Line: f.Line})
		}
		j := Job{Name: f.Key, Line: f.Line, Image: f.Value.FieldText("container"), Env: readEnv(f.Value.Field("env"), env)}
		j.Image = cmp.Or(j.Image, f.Value.Field("container").FieldText("image"))
		j.Services = readServices(f.Value.Field("services"))
		r.readSteps(&j, f.Value, root.Field("defaults").Field("run"), variants, cmp.Or(aside, asideOf(f.Value)))
		if len(j.Steps)+len(j.Services)+len(j.Actions)+len(j.Packages) > 0 {
			d.Jobs = append(d.Jobs, j)
		}
	}
}

// readServices reads the services of a job.
func readServices(services *ecosystem.YAMLValue) (out []Service) {
	if services == nil {
		return nil
	}
	for _, s := range services.Fields {
		service := Service{Name: s.Key, Image: cmp.Or(s.Value.FieldText("image"), s.Value.Text), Env: readEnv(s.Value.Field("env"), nil), Line: s.Line}
		for _, p := range s.Value.Field("ports").List() {
			service.Ports = append(service.Ports, p.Text)
		}
		out = append(out, service)
	}
	return out
}

// readSteps reads the steps of a job. Top are the defaults of its workflow, aside is why the CI judges no change by the job.
func (r *reader) readSteps(j *Job, job, top *ecosystem.YAMLValue, variants matrix, aside string) {
	own := job.Field("defaults").Field("run")
	var out checkouts
	steps := job.Field("steps").List()
	for _, s := range steps {
		if neverRuns(s, nil) {
			continue
		}
		out.add(s)
		why := cmp.Or(aside, asideOf(s))
		if why == asideSoft && aside == "" && isAskedFor(s.FieldText("id"), steps) {
			why = ""
		}
		if name, _, _ := strings.Cut(s.FieldText("uses"), "@"); name != "" && len(j.Actions) < maxSteps {
			j.Actions = append(j.Actions, Action{Name: name, Line: s.Line, Versions: variants.listVersions(s.Field("with")), aside: why})
		}
		j.Packages = append(j.Packages, readActionPackages(s)...)
		run := s.Field("run")
		shell := cmp.Or(s.FieldText("shell"), own.FieldText("shell"), top.FieldText("shell"), "bash")
		name, _, _ := strings.Cut(path.Base(shell), " ")
		if run == nil || run.Text == "" || name != "bash" && name != "sh" || len(j.Steps) == maxSteps || r.room < 0 {
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
		for _, one := range variants.expandStep(Step{Script: expandEnv(run.Text, env, j.Env), Line: run.Line, Dir: dir, Env: env, Aside: why}) {
			foreign := false
			if one.Dir, one.Elsewhere, foreign = out.place(one.Dir); foreign {
				one.Aside = asideForeign
			}
			r.addStep(j, one)
		}
	}
}

// isAskedFor reports whether a step's condition asks how the step with an id has ended: what goes on after a failure may fail
// then.
func isAskedFor(id string, steps []*ecosystem.YAMLValue) bool {
	return id != "" && slices.ContainsFunc(steps[:min(len(steps), maxSteps)], func(s *ecosystem.YAMLValue) bool {
		return strings.Contains(s.FieldText("if"), "steps."+id+".")
	})
}

// envRE is a variable in a script that the CI puts in before a shell reads it.
var envRE = lazyregexp.New(`\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// maxEnvValue is the longest value that is put into a script, in bytes. A script is at most twice as long then.
const maxEnvValue = 200

// expandEnv puts the values of variables into a script, as far as the definition writes them out.
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
