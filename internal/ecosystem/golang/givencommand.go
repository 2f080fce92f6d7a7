package golang

import (
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// CompleteGate has a given go test report in JSON, and a failing test planted
// where the command can be taken apart.
func (Ecosystem) CompleteGate(g *company.GateCommand) bool {
	words, ok := parseGoTest(g.Command)
	if !ok {
		return false
	}
	g.Parse = formatJSON
	if !words.json {
		g.Report = words.before + "go test -json" + words.args
	}
	if list, test, ok := words.splitCanary(); ok {
		g.Plant, g.Canary = plantGo, list+"\n"+test
	}
	return true
}

// goTestCommand is a command line that is go test and nothing else.
type goTestCommand struct {
	before string // exec, and variables of the environment
	args   string // all behind "go test"
	json   bool   // it reports already
}

// goTestSwitches are the flags of go test that take no value.
var goTestSwitches = map[string]bool{"v": true, "race": true, "msan": true, "asan": true, "short": true, "cover": true, "failfast": true,
	"json": true, "a": true, "n": true, "x": true, "work": true, "trimpath": true, "benchmem": true, "fullpath": true, "linkshared": true, "modcacherw": true}

// splitCanary is the command in two: go list of the packages that it means, and go
// test without them. Not ok: it runs chosen tests only, or is too odd to be
// taken apart.
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

var goTestWords = lazyregexp.New(`^((?:exec\s+)?(?:[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_./,:@%+=-]*\s+)*)go\s+test((?:\s.*)?)$`)

// parseGoTest takes such a command apart. Whatever means something to a shell makes
// it one that is left alone.
func parseGoTest(command string) (goTestCommand, bool) {
	m := goTestWords.FindStringSubmatch(strings.TrimSpace(command))
	if m == nil || strings.ContainsAny(command, "|;&><`$()\n#\\") {
		return goTestCommand{}, false
	}
	c := goTestCommand{before: m[1], args: m[2]}
	for w := range strings.FieldsSeq(m[2]) {
		flag, isFlag := strings.CutPrefix(strings.Trim(w, `'"`), "-")
		switch flag = strings.TrimPrefix(flag, "-"); {
		case !isFlag:
		case flag == "json" || flag == "json=true":
			c.json = true
		case flag == "c" || flag == "args" || flag == "exec" || strings.HasPrefix(flag, "exec=") || flag == "json=false":
			return goTestCommand{}, false
		}
	}
	return c, true
}
