package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/cifile"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var (
	// pipInstallRE is an installation by pip, up to the end of the command.
	pipInstallRE = lazyregexp.New(`(?:^|[\s;&|])(?:python3? -m )?(?:uv )?pip3? install\b([^\n;&|]*)`)
	// commandsRE is what stands between the commands of a script.
	commandsRE = lazyregexp.New(`&&|\|\||[;\n]`)
)

// maxCIPackages limits the packages that are read of a tree's CI.
const maxCIPackages = 100

// pipOptions are options of pip whose value is the next argument.
var pipOptions = []string{"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "--prefix", "--python"}

// addCIPackages adds the packages that the CI installs by name beside the tests, where no lock file
// says what a project needs. Versions are left out: jobs have several, and other interpreters.
func (r *requirements) addCIPackages() error {
	t := ecosystem.TreeOf(r.s)
	for _, d := range cifile.ReadDefinitions(t) {
		for _, j := range d.Jobs {
			var scripts strings.Builder
			for _, s := range j.Steps {
				scripts.WriteString(strings.ReplaceAll(s.Script, "\\\n", " ") + "\n")
			}
			if !hasTestCommand(commandsRE.Split(scripts.String(), -1)) {
				continue
			}
			for _, m := range pipInstallRE.FindAllStringSubmatch(scripts.String(), -1) {
				r.addCIWords(d.File, m[1])
			}
		}
	}
	return t.Err()
}

// addCIWords adds the packages among the arguments of pip.
func (r *requirements) addCIWords(file, arguments string) {
	words, ok := splitWords(strings.TrimSpace(arguments))
	for i := 0; ok && i < len(words); i++ {
		w := words[i]
		req, isPackage := parseRequirement(w)
		switch {
		case slices.Contains(pipOptions, w):
			i++
		case strings.HasPrefix(w, "#"):
			return
		case !isPackage, req.direct, strings.ContainsAny(w, "$/"), slices.Contains([]string{".txt", ".whl", ".gz", ".zip"}, path.Ext(w)), isToolOfImage(req.name):
		case len(r.loose) < maxCIPackages && !r.hasPackage(req.name):
			r.loose = append(r.loose, req.name)
			r.addLine(file, req.name)
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
