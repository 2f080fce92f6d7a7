package director

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"company/internal/adapters/scripted"
)

var (
	testFailure = regexp.MustCompile(`(?m)^\s+(\w+)_test\.go:\d+: (\w+)\((\d+)\) = \S+ want`)
	failedPkg   = regexp.MustCompile(`(?m)^FAIL[ \t]+(\S+)`)
)

// failure is what a gate's output says of the first test that failed: the
// function, what it was called with, and the file that it should be in.
type failure struct{ File, Func, Arg string }

func readFailure(output, module string) (failure, bool) {
	t, p := testFailure.FindStringSubmatch(output), failedPkg.FindStringSubmatch(output)
	if t == nil || p == nil {
		return failure{}, false
	}
	dir := strings.TrimPrefix(strings.TrimPrefix(p[1], module), "/")
	return failure{File: path.Join(dir, t[1]+".go"), Func: t[2], Arg: t[3]}, true
}

var comparison = regexp.MustCompile(`^(.*\bqty) > (\w+\.from\b.*)$`)

// repairGate reads in the gate's output which call went wrong, and looks for
// the comparison that is off by one there.
func repairGate(x scripted.Exchange, again string) scripted.Reply {
	_, output, _ := strings.Cut(again, "<gate_output>")
	seen := func(x scripted.Exchange) (failure, error) {
		lines, _ := file(x, "go.mod")
		m := moduleLine.FindStringSubmatch(strings.Join(lines, "\n"))
		if m == nil {
			return failure{}, fmt.Errorf("go.mod names no module")
		}
		f, ok := readFailure(output, m[1])
		if !ok {
			return f, fmt.Errorf("the gate's output names no failed test that I understand")
		}
		return f, nil
	}
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("The gate is red. Which package is it?", call("read_file", Args{"path": "go.mod"}))
	}, func(x scripted.Exchange) scripted.Reply {
		f, err := seen(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		return say(fmt.Sprintf("%s(%s) is wrong.", f.Func, f.Arg), call("read_file", Args{"path": f.File}))
	}, func(x scripted.Exchange) scripted.Reply {
		f, err := seen(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		lines, _ := file(x, f.File)
		edge := strings.Contains(strings.Join(lines, "\n"), "{"+f.Arg+",")
		for _, line := range lines {
			if m := comparison.FindStringSubmatch(line); m != nil && edge {
				return say(f.Arg+" is where a tier begins: it belongs to the tier.",
					call("edit_file", Args{"path": f.File, "old": line, "new": m[1] + " >= " + m[2]}))
			}
		}
		return giveUp(x, "there is no comparison in "+f.File+" that explains it")
	}, run("go test ./internal/pricing"), commit("A tier begins with its first piece"),
		finish("The comparison was off by one at the edge of a tier; the test that the gate showed passes."))
}

var findingLine = regexp.MustCompile(`(?m)^- ([^\s:]+):(\d+): `)

// dropped is a statement that throws an error away.
var dropped = regexp.MustCompile(`^(\t+)_ = (\w[\w.]*\(.*\))$`)

// repairFinding goes to the file and line of the finding and handles the error
// that is dropped there.
func repairFinding(x scripted.Exchange, again string) scripted.Reply {
	m := findingLine.FindStringSubmatch(again)
	if m == nil {
		return giveUp(x, "the finding names no file and line")
	}
	name, line := m[1], m[2]
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("I look at the line.", call("read_file", Args{"path": name, "offset": atoi(line), "limit": 1}), look()[0],
			look()[1], look()[2])
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		lines, _ := file(x, name)
		if len(lines) != 1 {
			return giveUp(x, name+" has no line "+line)
		}
		d := dropped.FindStringSubmatch(lines[0])
		if d == nil {
			return giveUp(x, fmt.Sprintf("line %s of %s drops nothing: %q", line, name, lines[0]))
		}
		return say("The caller must hear of it.",
			call("edit_file",
				Args{"path": name, "old": lines[0],
					"new": fmt.Sprintf("%sif err := %s; err != nil {\n%s\treturn err\n%s}", d[1], d[2], d[1], d[1])}),
			p.write(strings.TrimSuffix(name, ".go")+"_error_test.go", "reserve_error_test"))
	}, run("go test ./internal/..."), commit("Report a journal that cannot be written"),
		finish("The error at "+name+":"+line+" goes to the caller, and a test with a full disk shows it."))
}

// atoi reads digits that a regular expression has found.
func atoi(s string) int {
	n := 0
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}
