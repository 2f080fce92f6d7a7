package golang

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// packageRE matches a package pattern below the folder of a command.
var packageRE = lazyregexp.New(`^\.(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*(?:/\.\.\.|/)?$`)

// checkedPackages returns the package patterns that the checks of a module cover, for the go command in its folder.
// It returns ./... if no check runs in that folder. It also does so if a check is not a plain go test, go vet or go
// build, because such a check may cover any package.
func checkedPackages(checks []company.GateCommand, dir string) string {
	const all = "./..."
	var out []string
	for _, gateCommand := range checks {
		packages, ok := packagesOf(gateCommand.Command)
		if !ok {
			return all
		}
		if gateCommand.Dir != dir && (gateCommand.Dir != "" || dir != ".") {
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

// packagesOf returns the package patterns in a command. It returns false if the packages are unknown.
func packagesOf(command string) (packages []string, ok bool) {
	for _, other := range []string{"go vet", "go build"} { // their arguments have the same form as those of go test
		if rest, is := strings.CutPrefix(strings.TrimSpace(command), other); is && (rest == "" || rest[0] == ' ') {
			command = "go test" + rest
		}
	}
	testCommand, ok := parseGoTest(command)
	if !ok {
		return nil, false
	}
	words := strings.Fields(testCommand.args)
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "-")
		name = strings.TrimPrefix(name, "-")
		switch {
		case !isFlag && packageRE.MatchString(words[i]):
			// Include the folders below, because go build fails for a single package with only tests.
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
