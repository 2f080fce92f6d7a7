package cifile

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// maxAptNames limits the packages that are read of all definitions of a tree.
const maxAptNames = 200

var (
	// aptInstall is an installation by apt, up to the end of the command.
	aptInstall = lazyregexp.New(`\b(?:apt|apt-get|aptitude)(?:[ \t]+(?:-[A-Za-z-]\S*|-o[ \t]+\S+))*[ \t]+install\b([^\n;&|<>()]*)`)
	aptName    = lazyregexp.New(`^[a-z0-9][a-z0-9.+-]{1,60}$`)
	// continuedLine is a line of a shell that goes on.
	continuedLine = lazyregexp.New(`\\\r?\n`)
)

// valueOptions are options of apt whose value is the next argument.
var valueOptions = []string{"-o", "-t", "-c", "--option", "--target-release", "--default-release", "--config-file", "-a", "--host-architecture"}

// ListAptPackages lists the packages that scripts install by apt on Linux, each once, in
// the order of the scripts. The names are as the repository has them. They are no
// promise that Debian has such a package.
func ListAptPackages(all []Definition) (out []string) {
	add := func(name string) {
		if name = cleanAptName(name); name != "" && !slices.Contains(out, name) && len(out) < maxAptNames {
			out = append(out, name)
		}
	}
	for _, d := range all {
		for _, j := range d.Jobs {
			for _, name := range j.Packages {
				add(name)
			}
			for _, s := range j.Steps {
				for _, name := range listAptArguments(s.Script) {
					add(name)
				}
			}
		}
	}
	return out
}

// listAptArguments lists the arguments of a script's installations.
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

// cleanAptName returns the name of a package in an argument of apt, without quotes, a
// version, a release and this system's architecture. It is empty for a
// variable, a file and a package to remove.
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

// aptAction is an action whose input is a list of packages of apt.
const aptAction = "awalsh128/cache-apt-pkgs-action"

// readActionPackages lists the packages that a step's action installs.
func readActionPackages(step *ecosystem.YAMLValue) []string {
	if !strings.HasPrefix(step.FieldText("uses"), aptAction) {
		return nil
	}
	return strings.Fields(step.Field("with").FieldText("packages"))
}

// readTravisPackages lists the packages of a .travis.yml: those of its addons, and those
// that its scripts before the tests install.
func readTravisPackages(root *ecosystem.YAMLValue) (out []string) {
	for _, list := range []*ecosystem.YAMLValue{root.Field("addons").Field("apt").Field("packages"), root.Field("addons").Field("apt_packages")} {
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
