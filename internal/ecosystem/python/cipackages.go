package python

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var (
	// pipInstallRE matches an installation by pip, up to the end of the command.
	pipInstallRE = lazyregexp.New(`(?:^|[\s;&|])(?:python3? -m )?(?:uv )?pip3? install\b([^\n;&|]*)`)
	// commandsRE matches a separator between the commands of a script.
	commandsRE = lazyregexp.New(`&&|\|\||[;\n]`)
	// ciNameRE matches the name of a package with its extras and version.
	ciNameRE = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9._,-]*\])?(?:[=<>~!][^@/]*)?$`)
)

// maxCIPackages limits the packages that are read from a tree's CI.
const maxCIPackages = 100

// pipOptions lists options of pip whose value is the next argument.
var pipOptions = []string{"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-i", "--index-url",
	"--extra-index-url", "-f", "--find-links", "-t", "--target", "--prefix", "--python"}

// addCIPackages adds the packages that CI jobs with test commands install by name. It is for trees without
// pinned packages. Versions are left out, because jobs use several versions and other interpreters.
func (r *requirements) addCIPackages() error {
	tree := ecosystem.TreeOf(r.s)
	for _, file := range r.s.Files() {
		if !isDefinition(file) || !strings.HasSuffix(file, "ml") {
			continue
		}
		root, err := tree.ReadYAML(ecosystem.SplitPath(file))
		if err != nil {
			continue // doctor reports the error
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
	return tree.Err()
}

// maxCIScripts limits the scripts of one definition, in bytes. An alias may repeat a script many times.
const maxCIScripts = 1 << 20

// listJobScripts returns the script of each job in a definition, with all of its steps combined.
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
	// Travis
	addJob(root.Field("before_install"), root.Field("install"), root.Field("before_script"), root.Field("script"))
	for _, job := range root.Fields {
		addJob(job.Value.Field("before_script"), job.Value.Field("script")) // GitLab
	}
	return out
}

// addCIWords adds the packages in the arguments of pip.
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
		case m == nil,
			slices.ContainsFunc([]string{".txt", ".whl", ".gz", ".zip"},
				func(ext string) bool { return strings.HasSuffix(w, ext) }):
		default:
			if name := canonicalName(m[1]); !isToolOfImage(name) && len(r.loose) < maxCIPackages && checkName(name, "") == nil &&
				!r.hasPackage(name) {
				r.loose = append(r.loose, name)
				r.addLine(file, name)
			}
		}
	}
}

// isToolOfImage reports whether a package is installed in any case or is not needed for tests.
func isToolOfImage(name string) bool {
	return slices.Contains(reportingPrograms, name) ||
		slices.Contains(
			[]string{"pytest", "pytest-cov", "nose", "nose2", "tox", "tox-gh-actions", "nox", "setuptools", "wheel", "build",
				"virtualenv", "pre-commit"}, name)
}

// hasPackage reports whether a line names a package already.
func (r *requirements) hasPackage(name string) bool {
	return slices.ContainsFunc(r.lines, func(line string) bool {
		req, ok := parseRequirement(line)
		return ok && req.name == name
	})
}
