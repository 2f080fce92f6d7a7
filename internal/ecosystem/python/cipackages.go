package python

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var (
	// pipInstallRE is an installation by pip, up to the end of the command.
	pipInstallRE = lazyregexp.New(`(?:^|[\s;&|])(?:python3? -m )?(?:uv )?pip3? install\b([^\n;&|]*)`)
	// commandsRE stands between the commands of a script.
	commandsRE = lazyregexp.New(`&&|\|\||[;\n]`)
	// ciNameRE is the name of a package, and what may follow it.
	ciNameRE = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9._,-]*\])?(?:[=<>~!][^@/]*)?$`)
)

// maxCIPackages limits the packages that are read of a tree's CI.
const maxCIPackages = 100

// pipOptions are options of pip whose value is the next argument.
var pipOptions = []string{"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "--prefix", "--python"}

// addCIPackages adds the packages that the CI installs by name beside the tests, where no lock file
// says what a project needs. Versions are left out: jobs have several, and other interpreters.
func (r *requirements) addCIPackages() error {
	t := ecosystem.TreeOf(r.s)
	for _, file := range r.s.Files() {
		if !isDefinition(file) || !strings.HasSuffix(file, "ml") {
			continue
		}
		root, err := t.ReadYAML(ecosystem.SplitPath(file))
		if err != nil {
			continue // doctor names it
		}
		for _, script := range listJobScripts(root) {
			if !hasTestCommand(commandsRE.Split(script, -1)) {
				continue
			}
			for _, m := range pipInstallRE.FindAllStringSubmatch(script, maxCIPackages) {
				r.addCIWords(file, m[1])
			}
		}
	}
	return t.Err()
}

// maxCIScripts bounds the scripts of one definition together, in bytes: an alias may name one again and again.
const maxCIScripts = 1 << 20

// listJobScripts lists the script of each job of a definition, all of its steps together.
func listJobScripts(root *ecosystem.YAMLValue) (out []string) {
	room := maxCIScripts
	addJob := func(values ...*ecosystem.YAMLValue) {
		var script strings.Builder
		for _, v := range values {
			for _, line := range v.List() {
				if room -= len(line.Text); room >= 0 {
					script.WriteString(strings.ReplaceAll(line.Text, "\\\n", " ") + "\n")
				}
			}
		}
		if script.Len() > 0 {
			out = append(out, script.String())
		}
	}
	if root == nil {
		return nil
	}
	if jobs := root.Field("jobs"); jobs != nil {
		for _, job := range jobs.Fields {
			var runs []*ecosystem.YAMLValue
			for _, step := range job.Value.Field("steps").List() {
				runs = append(runs, step.Field("run"))
			}
			addJob(runs...)
		}
		return out
	}
	addJob(root.Field("before_install"), root.Field("install"), root.Field("before_script"), root.Field("script")) // Travis
	for _, job := range root.Fields {
		addJob(job.Value.Field("before_script"), job.Value.Field("script")) // GitLab
	}
	return out
}

// addCIWords adds the packages among the arguments of pip.
func (r *requirements) addCIWords(file, arguments string) {
	words, ok := splitWords(strings.TrimSpace(arguments))
	for i := 0; ok && i < len(words); i++ {
		w, _, _ := strings.Cut(words[i], "$")
		if strings.HasPrefix(w, "#") {
			return
		}
		m := ciNameRE.FindStringSubmatch(w)
		switch {
		case slices.Contains(pipOptions, w):
			i++
		case m == nil, slices.ContainsFunc([]string{".txt", ".whl", ".gz", ".zip"}, func(ext string) bool { return strings.HasSuffix(w, ext) }):
		default:
			if name := canonicalName(m[1]); !isToolOfImage(name) && len(r.loose) < maxCIPackages && checkName(name, "") == nil && !r.hasPackage(name) {
				r.loose = append(r.loose, name)
				r.addLine(file, name)
			}
		}
	}
}

// isToolOfImage says whether a package is there without being asked for, or tests nothing.
func isToolOfImage(name string) bool {
	return slices.Contains(reportingPrograms, name) || slices.Contains([]string{"pytest", "pytest-cov", "nose", "nose2", "tox", "tox-gh-actions", "nox", "setuptools", "wheel", "build", "virtualenv", "pre-commit"}, name)
}

// hasPackage says whether a line names a package already.
func (r *requirements) hasPackage(name string) bool {
	return slices.ContainsFunc(r.lines, func(line string) bool {
		req, ok := parseRequirement(line)
		return ok && req.name == name
	})
}
