package golang

import (
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// CompleteGate makes a given go test report in JSON. It also plants a failing test if the command can be parsed.
func (Ecosystem) CompleteGate(gateCommand *company.GateCommand) bool {
	words, ok := parseGoTest(gateCommand.Command)
	if !ok {
		return false
	}
	gateCommand.Parse = formatJSON
	if !words.json {
		gateCommand.Report = words.before + "go test -json" + words.args
	}
	if list, test, ok := words.splitCanary(); ok {
		gateCommand.Plant, gateCommand.Canary = plantGo, list+"\n"+test
	}
	return true
}

// goTestCommand is a command line that only runs go test.
type goTestCommand struct {
	before string // exec and environment variables
	args   string // all arguments after "go test"
	json   bool   // it has the flag -json
}

// goTestSwitches lists the flags of go test without a value.
var goTestSwitches = map[string]bool{"v": true, "race": true, "msan": true, "asan": true, "short": true, "cover": true,
	"failfast": true,
	"json":     true, "a": true, "n": true, "x": true, "work": true, "trimpath": true, "benchmem": true, "fullpath": true,
	"linkshared": true, "modcacherw": true}

// splitCanary splits the command into go list with its packages and go test without packages. It returns false if the
// command selects tests or cannot be parsed.
func (c goTestCommand) splitCanary() (list, test string, ok bool) {
	list, test = "go list -find -e -f '{{.Dir}}'", "go test -json"
	var packages []string
	words := strings.Fields(c.args)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.ContainsAny(w, `'"`) {
			return "", "", false
		}
		name, isFlag := strings.CutPrefix(w, "-")
		if !isFlag {
			packages = append(packages, w)
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !has && !goTestSwitches[name] {
			if i++; i == len(words) {
				return "", "", false
			}
			value, has = words[i], true
		}
		flag := " -" + name
		if has {
			flag += "=" + value
		}
		switch name {
		case "run", "skip", "list", "C", "o", "fuzz", "bench":
			return "", "", false
		case "tags", "mod", "modfile", "overlay", "race", "msan", "asan", "compiler":
			list += flag
		case "json":
			continue
		}
		test += flag
	}
	set := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(c.before), "exec"))
	if set != "" {
		set += " "
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	return set + list + " " + strings.Join(packages, " "), set + test, true
}

var goTestWords = lazyregexp.New(
	`^((?:exec\s+)?(?:[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_./,:@%+=-]*\s+)*)go\s+test((?:\s.*)?)$`)

// parseGoTest parses a go test command. It rejects commands with shell syntax.
func parseGoTest(command string) (goTestCommand, bool) {
	m := goTestWords.FindStringSubmatch(strings.TrimSpace(command))
	if m == nil || strings.ContainsAny(command, "|;&><`$()\n#\\") {
		return goTestCommand{}, false
	}
	testCommand := goTestCommand{before: m[1], args: m[2]}
	for w := range strings.FieldsSeq(m[2]) {
		flag, isFlag := strings.CutPrefix(strings.Trim(w, `'"`), "-")
		switch flag = strings.TrimPrefix(flag, "-"); {
		case !isFlag:
		case flag == "json" || flag == "json=true":
			testCommand.json = true
		case flag == "c" || flag == "args" || flag == "exec" || strings.HasPrefix(flag, "exec=") || flag == "json=false":
			return goTestCommand{}, false
		}
	}
	return testCommand, true
}
