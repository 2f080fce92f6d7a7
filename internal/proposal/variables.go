package proposal

import (
	"maps"
	"slices"
	"strings"

	"company/internal/lazyregexp"
	"company/internal/shell"
)

// maxVariables bounds the variables of a step that a check is given.
const maxVariables = 40

// literalVariables are those of a CI whose values its file gives, in the order of their names.
func literalVariables(env map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		if len(out) < maxVariables && variableNameRE.MatchString(name) && !strings.ContainsAny(value, "$\n\x00") && len(value) <= 500 {
			out = append(out, name+"="+value)
		}
	}
	return out
}

var variableNameRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// steeringRE matches names of variables by which a program, or the people of a repository, choose what a
// check checks. With one of them a command is another check than without it.
var steeringRE = lazyregexp.New(`(?i)^(GOFLAGS|PYTEST_ADDOPTS|TOXENV|NOXSESSION|TESTFLAGS|TEST_?ARGS|TEST_?OPTS|TEST_?SUITE|TEST_?TAGS|MOCHA_[A-Z_]+)$|(^|_)(E2E|INTEGRATION|ACCEPTANCE|SLOW|SMOKE|FUNCTIONAL)(_|$)`)

// quietRE matches names of variables that say how a check is run and shown, and by which version of a
// language. A check that differs in nothing else is the same.
var quietRE = lazyregexp.New(`(?i)^(CI|OS|SHELL|TERM|TZ|LANG|LC_[A-Z]+|PATH|HOME|PYTHONPATH|PYTHON|NODE|RUBY|JAVA|GO|RUST|PHP|NODE_OPTIONS|NODE_ENV|CGO_ENABLED|GOPROXY|GOSUMDB|GOPRIVATE|GOTOOLCHAIN|GOTRACEBACK|JOBS|MAKEFLAGS|(CARGO|RUSTC|PIP|UV|POETRY|NPM_CONFIG|YARN|PNPM|HUSKY|NX|TURBO|CTEST|GITHUB|RUNNER|CODECOV|COVERALLS)_[A-Z0-9_]*)$|VERSION|COLOR|TOKEN|SECRET|CACHE|TELEMETRY|TIMEOUT|DEBUG|VERBOSE|BACKTRACE|UNBUFFERED|coverage`)

// listVariables lists the variables that the command is run with, NAME=value each: of its step, and before its name.
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

// knowsVariables reports whether the variables that a call's text names are among those that it is run with, NAME=value each.
func (c call) knowsVariables(env []string) bool {
	return !slices.ContainsFunc(c.params, func(name string) bool {
		return !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	})
}

// nameSession is a call of tox or nox that a variable tells which environment to run, with that environment, and the other
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
			c.words, c.text = append(slices.Clone(c.words), flag, value), c.text+" "+flag+" "+shell.QuoteArgument(value)
			c.assigns = slices.DeleteFunc(slices.Clone(c.assigns), isName)
			return c, slices.DeleteFunc(slices.Clone(env), isName)
		}
	}
	return c, env
}

// choosingVariables are the variables that may make the command another check than it is without them.
func (c Command) choosingVariables() []string { return keepChoosing(c.listVariables()) }

// keepChoosing is a list of variables, NAME=value each, without those that choose nothing.
func keepChoosing(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return !steeringRE.MatchString(name) && quietRE.MatchString(name) || steeringRE.MatchString(name) && isOff(value)
	})
}

// isAnotherVariant says that a command of the CI checks more than the gate with its program and
// arguments: a variable chooses other tests, or the gate stands for an earlier command with other
// variables.
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

// isOff says whether a value turns off what its variable is called after.
func isOff(value string) bool {
	return slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}
