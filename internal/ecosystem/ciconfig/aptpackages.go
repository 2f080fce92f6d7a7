package ciconfig

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// maxAptNames limits the packages from all definitions of a tree.
const maxAptNames = 200

var (
	// aptInstall matches an apt install command up to its end.
	aptInstall = lazyregexp.New(
		`\b(?:apt|apt-get|aptitude)(?:[ \t]+(?:-[A-Za-z-]\S*|-o[ \t]+\S+))*[ \t]+install\b([^\n;&|<>()]*)`)
	aptName = lazyregexp.New(`^[a-z0-9][a-z0-9.+-]{1,60}$`)
	// continuedLine matches the end of a shell line that continues on the next.
	continuedLine = lazyregexp.New(`\\\r?\n`)
)

// valueOptions lists options of apt whose value is the next argument.
var valueOptions = []string{"-o", "-t", "-c", "--option", "--target-release", "--default-release", "--config-file",
	"-a", "--host-architecture"}

// ListAptPackages lists the packages that scripts install with apt on Linux, without duplicates and in the order of
// the scripts. The names come from the repository, so Debian may not have these packages.
func ListAptPackages(definitions []Definition) (out []string) {
	add := func(name string) {
		if name = cleanAptName(name); name != "" && !slices.Contains(out, name) && len(out) < maxAptNames {
			out = append(out, name)
		}
	}
	for _, d := range definitions {
		for _, job := range d.Jobs {
			for _, name := range job.Packages {
				add(name)
			}
			for _, s := range job.Steps {
				for _, name := range listAptArguments(s.Script) {
					add(name)
				}
			}
		}
	}
	return out
}

// listAptArguments lists the arguments of the apt install commands in a script.
func listAptArguments(script string) (out []string) {
	script = continuedLine.ReplaceAllString(script, " ")
	for line := range strings.Lines(script) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, m := range aptInstall.FindAllStringSubmatch(line, -1) {
			isValue := false
			for word := range strings.FieldsSeq(m[1]) {
				if strings.HasPrefix(word, "#") {
					break
				}
				if !isValue && !strings.HasPrefix(word, "-") {
					out = append(out, word)
				}
				isValue = slices.Contains(valueOptions, word)
			}
		}
	}
	return out
}

// cleanAptName returns the package name in an argument of apt, without quotes, version, release and this system's
// architecture. It returns "" for a variable, a file or a package to remove.
func cleanAptName(word string) string {
	word = strings.Trim(word, `"'`)
	word, _, _ = strings.Cut(word, "=")
	if name, release, ok := strings.Cut(word, "/"); ok && name != "" && !strings.Contains(release, "/") {
		word = name
	}
	word = strings.TrimSuffix(strings.TrimSuffix(word, ":amd64"), ":native")
	if !aptName.MatchString(word) || strings.HasSuffix(word, "-") || strings.HasSuffix(word, ".deb") {
		return ""
	}
	return word
}

// aptAction is an action with a list of apt packages as input.
const aptAction = "awalsh128/cache-apt-pkgs-action"

// readActionPackages lists the packages that a step's action installs.
func readActionPackages(step *ecosystem.YAMLValue) []string {
	if !strings.HasPrefix(step.FieldText("uses"), aptAction) {
		return nil
	}
	return strings.Fields(step.Field("with").FieldText("packages"))
}

// readTravisPackages lists the packages in a .travis.yml: those of its addons, and those that its scripts install
// before the tests.
func readTravisPackages(root *ecosystem.YAMLValue) (out []string) {
	for _, list := range []*ecosystem.YAMLValue{root.Field("addons").Field("apt").Field("packages"),
		root.Field("addons").Field("apt_packages")} {
		for _, v := range list.List() {
			out = append(out, v.Text)
		}
	}
	for _, key := range []string{"before_install", "install"} {
		for _, s := range readScript(root.Field(key)) {
			out = append(out, listAptArguments(s.Script)...)
		}
	}
	return out
}
