package gates

import (
	"regexp"
	"strings"

	"company/internal/company"
)

// Given is what the config says of one check: auto, none, or a command.
type Given string

const (
	Auto Given = "auto"
	None Given = "none"
)

func (g Given) auto() bool { return g == Auto || g == "" }

// gate is the check that a given command is. What somebody chose is run as it
// stands, but for a report of its tests where the program is go's; else what
// it prints for people is read.
func (g Given) gate(name string) company.GateCommand {
	c := company.GateCommand{Name: name, Command: string(g), Given: true}
	if c.IsLint() {
		c.Parse = Lines
		return c
	}
	c.Parse = Plain
	if words, ok := parseGoTest(string(g)); ok {
		c.Parse = GoJSON
		if !words.json {
			c.Report = words.before + "go test -json" + words.args
		}
	}
	return c
}

// goTestCommand is a command line that is go test and nothing else.
type goTestCommand struct {
	before string // exec, and what is set in the environment
	args   string // all behind "go test"
	json   bool   // it reports already
}

var goTestWords = regexp.MustCompile(`^((?:exec\s+)?(?:[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_./,:@%+=-]*\s+)*)go\s+test((?:\s.*)?)$`)

// parseGoTest takes such a command apart. Whatever means something to a shell makes
// it one that is left alone.
func parseGoTest(command string) (goTestCommand, bool) {
	m := goTestWords.FindStringSubmatch(strings.TrimSpace(command))
	if m == nil || strings.ContainsAny(command, "|;&><`$()\n#\\") {
		return goTestCommand{}, false
	}
	c := goTestCommand{before: m[1], args: m[2]}
	for _, w := range strings.Fields(m[2]) {
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

// Argv is a command given as a list of arguments: nothing in them means
// anything to the shell that the gate is started by.
func Argv(argv []string) Given {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = quoted(a)
	}
	// exec also keeps a program that is called auto or none from being taken
	// for the word.
	return Given("exec " + strings.Join(words, " "))
}

// quoted is a word that no shell gives a meaning.
func quoted(a string) string {
	if a != "" && strings.Trim(a, plain) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// plain are the characters that no shell gives a meaning in an argument.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%+-"
