package golang

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// packageRE is a pattern of packages below the folder of a command.
var packageRE = lazyregexp.New(`^\.(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*(?:/\.\.\.|/)?$`)

// checkedPackages are the patterns of packages that the checks of a module look at, for the
// go command in its folder. All of them (./...) where some check is no plain go test, go vet
// or go build, since that one may look at anything, and where no check is of that folder.
func checkedPackages(checks []company.GateCommand, dir string) string {
	const all = "./..."
	var out []string
	for _, g := range checks {
		packages, ok := packagesOf(g.Command)
		if !ok {
			return all
		}
		if g.Dir != dir && (g.Dir != "" || dir != ".") {
			continue
		}
		out = append(out, packages...)
	}
	if len(out) == 0 || slices.Contains(out, all) {
		return all
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// packagesOf are the patterns that a command names. Not ok: what it looks at is not known.
func packagesOf(command string) (packages []string, ok bool) {
	for _, other := range []string{"go vet", "go build"} { // their arguments stand as those of go test
		if rest, is := strings.CutPrefix(strings.TrimSpace(command), other); is && (rest == "" || rest[0] == ' ') {
			command = "go test" + rest
		}
	}
	c, ok := parseGoTest(command)
	if !ok {
		return nil, false
	}
	words := strings.Fields(c.args)
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "-")
		name = strings.TrimPrefix(name, "-")
		switch {
		case !isFlag && packageRE.MatchString(words[i]):
			// With the folders below it: go build refuses a package of tests alone by its name.
			packages = append(packages, strings.TrimSuffix(strings.TrimSuffix(words[i], "..."), "/")+"/...")
		case !isFlag, name == "C", strings.HasPrefix(name, "C="):
			return nil, false
		case !strings.Contains(name, "=") && !goTestSwitches[name]:
			i++ // its value
		}
	}
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	return packages, true
}
