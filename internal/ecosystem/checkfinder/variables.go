package checkfinder

import (
	"maps"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// maxVariables limits the variables of a step that a check gets.
const maxVariables = 40

// literalVariables returns the CI variables with literal values, sorted by name.
func literalVariables(env map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		if len(out) < maxVariables && variableNameRE.MatchString(name) && !strings.ContainsAny(value, "$\n\x00") &&
			len(value) <= 500 {
			out = append(out, name+"="+value)
		}
	}
	return out
}

var variableNameRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// steeringRE matches names of variables that select the scope of a check. With such a variable, a command is a
// different check.
var steeringRE = lazyregexp.New(
	`(?i)^(GOFLAGS|PYTEST_ADDOPTS|TOXENV|NOXSESSION|TESTFLAGS|TEST_?ARGS|TEST_?OPTS|TEST_?SUITE|TEST_?TAGS|MOCHA_[A-Z_]+)$|(^|_)(E2E|INTEGRATION|ACCEPTANCE|SLOW|SMOKE|FUNCTIONAL)(_|$)`)

// quietRE matches names of variables that do not change the check. They set how it runs and is shown, the version of
// a language, or the compiler. The image has only one C compiler.
var quietRE = lazyregexp.New(
	`(?i)^(CI|OS|CC|CXX|FC|LD|AR|SHELL|TERM|TZ|LANG|LC_[A-Z]+|PATH|HOME|PYTHONPATH|PYTHON|NODE|RUBY|JAVA|GO|RUST|PHP|NODE_OPTIONS|NODE_ENV|CGO_ENABLED|GOPROXY|GOSUMDB|GOPRIVATE|GOTOOLCHAIN|GOTRACEBACK|JOBS|MAKEFLAGS|(CARGO|RUSTC|PIP|UV|POETRY|NPM_CONFIG|YARN|PNPM|HUSKY|NX|TURBO|CTEST|GITHUB|RUNNER|CODECOV|COVERALLS)_[A-Z0-9_]*)$|VERSION|COLOR|TOKEN|SECRET|CACHE|TELEMETRY|TIMEOUT|DEBUG|VERBOSE|BACKTRACE|UNBUFFERED|coverage`)

// listVariables lists the variables of a command, NAME=value each, from its step and its leading assignments.
func (c Command) listVariables() []string {
	out := slices.Clone(c.Env)
	for _, assign := range c.call.assigns {
		name, _, _ := strings.Cut(assign, "=")
		out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		out = append(out, assign)
	}
	slices.Sort(out)
	return out
}

// knowsVariables reports whether env, NAME=value each, has all variables in a call's text.
func (c call) knowsVariables(env []string) bool {
	return !slices.ContainsFunc(c.params, func(name string) bool {
		return !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	})
}

// nameSession adds the environment from a variable to a call of tox or nox. It returns the call and the other
// variables.
func (c call) nameSession(env []string) (call, []string) {
	words := c.unwrapCommand()
	if len(words) != 1 || words[0] != "tox" && words[0] != "nox" {
		return c, env
	}
	name, flag := "TOXENV=", "-e"
	if words[0] == "nox" {
		name, flag = "NOXSESSION=", "-s"
	}
	isName := func(kv string) bool { return strings.HasPrefix(kv, name) }
	all := append(slices.Clone(env), c.assigns...)
	for _, kv := range slices.Backward(all) {
		if value := strings.TrimPrefix(kv, name); isName(kv) && value != "" && !strings.Contains(value, unknown) {
			c.words, c.text = append(slices.Clone(c.words), flag, value), c.text+" "+flag+" "+shellquote.QuoteArgument(value)
			c.assigns = slices.DeleteFunc(slices.Clone(c.assigns), isName)
			return c, slices.DeleteFunc(slices.Clone(env), isName)
		}
	}
	return c, env
}

// choosingVariables returns the variables that may make the command a different check.
func (c Command) choosingVariables() []string { return keepChoosing(c.listVariables()) }

// keepChoosing returns the variables, NAME=value each, that may change a check.
func keepChoosing(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return !steeringRE.MatchString(name) && quietRE.MatchString(name) || steeringRE.MatchString(name) && isOff(value)
	})
}

// isAnotherVariant reports whether a CI command checks more than the gate with the same program and arguments. Either
// a variable selects other tests, or the gate already stands for an earlier command with other variables.
func (c Command) isAnotherVariant(earlier []Command) bool {
	if !c.OfCI {
		return false
	}
	own := c.choosingVariables()
	if slices.ContainsFunc(own, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return steeringRE.MatchString(name)
	}) {
		return true
	}
	return slices.ContainsFunc(earlier, func(o Command) bool {
		return o.OfCI && o.Agrees && o.Kind == c.Kind && o.Gate == c.Gate && !slices.Equal(o.choosingVariables(), own)
	})
}

// isOff reports whether a value turns a variable's feature off.
func isOff(value string) bool {
	return slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}
