package checkfinder

import (
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// taskRunners lists programs that run targets, such as test and lint, in all packages of a workspace.
var taskRunners = []string{"nx", "turbo", "lerna"}

// runnerVariables keep a task runner from leaving a server running and from contacting its vendor's service.
var runnerVariables = map[string][]string{
	"nx":    {"NX_DAEMON=false", "NX_NO_CLOUD=true", "NX_TUI=false"},
	"lerna": {"NX_DAEMON=false", "NX_NO_CLOUD=true"},
	"turbo": {"TURBO_TELEMETRY_DISABLED=1"},
}

// splitTargets splits a call of a task runner into one call for each target, because each target has its own kind of
// check. It drops arguments that limit the packages or the number of parallel runs.
func (c call) splitTargets() []call {
	words := c.unwrapCommand()
	if len(words) > 2 && (path.Base(words[0]) == "tox" || path.Base(words[0]) == "nox") {
		return c.splitSessions(len(c.words) - len(words))
	}
	if len(words) > 2 && slices.Contains(builders, path.Base(words[0])) {
		return c.splitBuild(len(c.words) - len(words))
	}
	if len(words) < 2 || !slices.Contains(taskRunners, path.Base(words[0])) {
		return []call{c}
	}
	before, program := c.words[:len(c.words)-len(words)], path.Base(words[0])
	if slices.ContainsFunc(before, func(w string) bool { return !plainWordRE.MatchString(w) }) {
		return []call{c} // its text cannot be rebuilt from its arguments
	}
	var out []call
	for _, target := range targetsOf(program, words[1:]) {
		one := c
		one.words = append(slices.Clone(before), program, "run", target)
		if program == "nx" {
			one.words = append(slices.Clone(before), program, "run-many", "-t", target)
		}
		one.text = strings.Join(one.words, " ")
		out = append(out, one)
	}
	if out == nil {
		return []call{c}
	}
	return out
}

// builders lists programs that accept several targets and run them in order.
var builders = strings.Fields("make gmake gradle gradlew mvn mvnw sbt ninja rake grunt gulp")

// builderFlags lists flags that take a value.
var builderFlags = strings.Fields(
	"-C -f -I -o -W --directory --file -p -b -P -pl -x -D --projects --exclude-task --gulpfile --gruntfile")

// splitBuild splits a call of a program with several targets into one call for each. In make clean test, for example,
// only one target is a check. from is the index of the program in the arguments.
func (c call) splitBuild(from int) []call {
	var targets []int
	for i, isValue := from+1, false; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case isValue:
			isValue = false
		case strings.HasPrefix(w, "-"):
			isValue = slices.Contains(builderFlags, w)
		case targetRE.MatchString(w) && !numberRE.MatchString(w):
			targets = append(targets, i)
		}
	}
	if len(targets) < 2 || len(targets) > maxTargets ||
		slices.ContainsFunc(c.words, func(w string) bool { return !listWordRE.MatchString(w) }) {
		return []call{c}
	}
	var out []call
	for _, kept := range targets {
		one := c
		one.words = nil
		for i, w := range c.words {
			if i == kept || !slices.Contains(targets, i) {
				one.words = append(one.words, w)
			}
		}
		one.text = strings.Join(slices.Concat(c.assigns, one.words), " ")
		out = append(out, one)
	}
	return out
}

// splitSessions splits a call of tox or nox with a list of environments, such as tox -e lint,mypy, into one call for
// each. from is the index of the program in the arguments.
func (c call) splitSessions(from int) []call {
	index := slices.IndexFunc(c.words[from:],
		func(w string) bool { return slices.Contains([]string{"-e", "-s", "--session", "--sessions"}, w) }) + from
	if index < from || index+1 >= len(c.words) || !strings.Contains(c.words[index+1], ",") ||
		slices.ContainsFunc(c.words, func(w string) bool { return !listWordRE.MatchString(w) }) {
		return []call{c}
	}
	var out []call
	for name := range strings.SplitSeq(c.words[index+1], ",") {
		if name == "" || len(out) == maxTargets {
			continue
		}
		one := c
		one.words = slices.Clone(c.words)
		one.words[index+1] = name
		one.text = strings.Join(one.words, " ")
		out = append(out, one)
	}
	return out
}

// targetsOf lists the targets in the arguments of a task runner.
func targetsOf(program string, words []string) (out []string) {
	add := func(list string) {
		for _, target := range strings.Split(list, ",") {
			if targetRE.MatchString(target) && !slices.Contains(out, target) && len(out) < maxTargets {
				out = append(out, target)
			}
		}
	}
	if program == "nx" {
		if words[0] != "run-many" && words[0] != "affected" {
			return nil
		}
		taking := false
		for _, w := range words[1:] {
			name, value, hasValue := strings.Cut(w, "=")
			switch isTarget := name == "-t" || name == "--target" || name == "--targets"; {
			case isTarget && hasValue:
				add(value)
				taking = false
			case strings.HasPrefix(w, "-"):
				taking = isTarget
			case taking:
				add(w)
			}
		}
		return out
	}
	verb, isValue := true, false
	for _, w := range words {
		switch {
		case w == "--":
			return out
		case isValue:
			isValue = false
		case strings.HasPrefix(w, "-"):
			isValue = slices.Contains(filterFlags, w)
		case verb && (w == "run" || w == "exec"):
		default:
			add(w)
		}
		verb = verb && strings.HasPrefix(w, "-")
	}
	return out
}

// filterFlags lists flags with a value that select packages or limit parallel runs.
var filterFlags = []string{"--filter", "-F", "--scope", "--ignore", "--concurrency", "--cache-dir", "--cwd", "--since",
	"--team", "--token"}

// targetRE matches a target that needs no quotes.
var targetRE = lazyregexp.New(`^[A-Za-z0-9_@./:-]+$`)

// plainWordRE matches an argument that a shell does not change.
var plainWordRE = lazyregexp.New(`^[A-Za-z0-9_@./:=+-]+$`)

// listWordRE matches such an argument that may also have commas.
var listWordRE = lazyregexp.New(`^[A-Za-z0-9_@./:=,+-]+$`)

// maxTargets limits the targets of one call.
const maxTargets = 12

// targetOf returns the target of a call from splitTargets, or "" for other calls.
func targetOf(words []string) string {
	if len(words) < 3 || !slices.Contains(taskRunners, path.Base(words[0])) {
		return ""
	}
	return words[len(words)-1]
}
