package proposal

import (
	"path"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

// taskRunners run targets, such as test and lint, in all packages of a workspace.
var taskRunners = []string{"nx", "turbo", "lerna"}

// runnerVariables keep a task runner from leaving a server behind and from asking a service of its vendor.
var runnerVariables = map[string][]string{
	"nx":    {"NX_DAEMON=false", "NX_NO_CLOUD=true", "NX_TUI=false"},
	"lerna": {"NX_DAEMON=false", "NX_NO_CLOUD=true"},
	"turbo": {"TURBO_TELEMETRY_DISABLED=1"},
}

// splitTargets is a call of a task runner as one call for each target: each is a check of its own
// kind. Which packages a run is limited to, and how many run at a time, is left out.
func (c call) splitTargets() []call {
	words := c.unwrapCommand()
	if len(words) < 2 || !slices.Contains(taskRunners, path.Base(words[0])) {
		return []call{c}
	}
	before, program := c.words[:len(c.words)-len(words)], path.Base(words[0])
	if slices.ContainsFunc(before, func(w string) bool { return !plainWordRE.MatchString(w) }) {
		return []call{c} // its text cannot be put together of its words
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

// targetsOf lists the targets that the arguments of a task runner name.
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

// filterFlags are flags with a value that choose packages, or how many run at a time.
var filterFlags = []string{"--filter", "-F", "--scope", "--ignore", "--concurrency", "--cache-dir", "--cwd", "--since", "--team", "--token"}

// targetRE is a target that stands in a command without quotes.
var targetRE = lazyregexp.New(`^[A-Za-z0-9_@./:-]+$`)

// plainWordRE is an argument that a shell leaves as it is.
var plainWordRE = lazyregexp.New(`^[A-Za-z0-9_@./:=+-]+$`)

// maxTargets bounds the targets of one call.
const maxTargets = 12

// targetOf is the target of a call that splitTargets made; empty: it is another one.
func targetOf(words []string) string {
	if len(words) < 3 || !slices.Contains(taskRunners, path.Base(words[0])) {
		return ""
	}
	return words[len(words)-1]
}
