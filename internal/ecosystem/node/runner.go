package node

import (
	"path"
	"slices"
	"strings"
)

// launchers are programs that run the command after their flags. flags lists the flags whose value is the
// next argument.
var launchers = []struct {
	words []string
	flags []string
}{
	{words: []string{"npx"}, flags: []string{"-p", "--package"}}, {words: []string{"pnpx"}}, {words: []string{"bunx"}},
	{words: []string{"npm", "exec"}}, {words: []string{"npm", "x"}}, {words: []string{"pnpm", "exec"}},
	{words: []string{"pnpm", "dlx"}},
	{words: []string{"yarn", "exec"}}, {words: []string{"yarn", "run"}}, {words: []string{"yarn", "dlx"}},
	{words: []string{"bun", "run"}},
	{words: []string{"cross-env"}}, {words: []string{"cross-env-shell"}}, {words: []string{"env"}, flags: []string{"-u"}},
	{words: []string{"dotenv"}, flags: []string{"-e", "-v", "-p"}},
	{words: []string{"dotenvx", "run"}, flags: []string{"-f", "--env-file", "-e"}},
	{words: []string{"env-cmd"}, flags: []string{"-f", "-r", "-e"}}, {words: []string{"time"}},
	{words: []string{"xvfb-run"}, flags: []string{"-s", "-n"}},
}

// coverers are programs that run tests and measure coverage. Their first argument that is a runner begins
// the runner's command.
var coverers = []string{"c8", "nyc"}

// nodeFlags lists flags of node whose value is the next argument.
var nodeFlags = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions",
	"--env-file", "--test-reporter", "--test-reporter-destination"}

// runners maps file names of programs to the test runner.
var runners = map[string]string{
	"vitest": "vitest", "vitest.mjs": "vitest", "jest": "jest", "jest.js": "jest", "mocha": "mocha", "mocha.js": "mocha",
	"_mocha": "mocha", "ts-mocha": "mocha",
	"ava": "ava", "tape": "tape", "tap": "tap",
}

// findProgram returns the program that a command finally runs, and its arguments. It skips programs that
// set variables or measure coverage. "node --test" counts as a program.
func findProgram(words []string) (program string, args []string) {
	for range maxFollowed {
		was := len(words)
		for len(words) > 0 && isAssignment(words[0]) {
			words = words[1:]
		}
		if len(words) == 0 {
			return "", nil
		}
		for _, l := range launchers {
			if len(words) > len(l.words) && path.Base(words[0]) == l.words[0] &&
				slices.Equal(words[1:len(l.words)], l.words[1:]) {
				words = skipFlags(words[len(l.words):], l.flags)
				break
			}
		}
		if len(words) > 0 && slices.Contains(coverers, path.Base(words[0])) {
			index := slices.IndexFunc(words[1:],
				func(w string) bool { return runners[path.Base(w)] != "" || w == "node" || w == "tsx" })
			if index < 0 {
				break
			}
			words = words[1+index:]
		}
		if len(words) == 0 || len(words) == was {
			break
		}
	}
	if len(words) == 0 {
		return "", nil
	}
	program, args = path.Base(words[0]), words[1:]
	switch program {
	case "node", "tsx":
		if slices.Contains(args, "--test") {
			return "node --test", args
		}
		rest := skipFlags(args, nodeFlags)
		if len(rest) > 0 && runners[path.Base(rest[0])] != "" && strings.Contains(rest[0], "node_modules/") {
			return runners[path.Base(rest[0])], rest[1:]
		}
	case "yarn", "pnpm", "bun": // a program of a package, called by its name alone
		if len(args) > 0 && runners[args[0]] != "" {
			return args[0], args[1:]
		}
	default:
		if runner := runners[program]; runner != "" {
			program = runner
		}
	}
	return program, args
}

// isAssignment reports whether an argument sets a variable.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "-/.")
}

// skipFlags returns the arguments without leading flags, up to "--".
func skipFlags(words, withValue []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if words[0] == "--" {
			return words[1:]
		}
		n := 1
		if slices.Contains(withValue, words[0]) {
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// stepKind is the purpose of a step of a test script.
type stepKind int

const (
	stepOther   stepKind = iota // prepares, cleans up or is unknown
	stepTests                   // runs tests
	stepBrowser                 // runs tests in a browser
	stepLint                    // lints the sources
	stepTypes                   // checks the types
	stepNone                    // installs a browser, which is skipped: checks are offline and have their programs
)

// browserPrograms run tests in a browser, whatever their arguments are.
var browserPrograms = []string{"wdio", "testcafe", "nightwatch", "protractor", "karma", "wtr", "web-test-runner",
	"test-storybook", "electron-mocha"}

// classify returns the kind of a step and its program.
func (s step) classify() (stepKind, string) {
	program, args := findProgram(s.words)
	first := ""
	if rest := skipFlags(args, nil); len(rest) > 0 {
		first = rest[0]
	}
	switch program {
	case "vitest":
		if slices.ContainsFunc(args, isOtherBrowser) {
			return stepBrowser, program
		}
		if first == "bench" || first == "init" || first == "list" {
			return stepOther, program
		}
		return stepTests, program
	case "jest", "mocha", "ava", "tape", "tap", "node --test":
		return stepTests, program
	case "playwright", "cypress", "puppeteer", "@puppeteer/browsers":
		switch {
		case first == "install" || first == "install-deps" || first == "browsers" || first == "verify":
			return stepNone, program
		case first == "test" || first == "run":
			return stepBrowser, program
		}
	case "tsc", "vue-tsc":
		if slices.Contains(args, "--noEmit") {
			return stepTypes, program
		}
	case "svelte-check", "flow":
		return stepTypes, program
	case "astro":
		if first == "check" {
			return stepTypes, program
		}
	case "eslint", "standard", "xo", "oxlint", "jshint", "stylelint":
		return stepLint, program
	case "biome":
		if first == "check" || first == "lint" || first == "ci" {
			return stepLint, program
		}
	case "prettier":
		if slices.ContainsFunc(args, func(w string) bool {
			return w == "--check" || w == "-c" || w == "-l" || w == "--list-different"
		}) {
			return stepLint, program
		}
	case "next":
		if first == "lint" {
			return stepLint, program
		}
	case "ng":
		if first == "test" || first == "e2e" {
			return stepBrowser, program
		}
	case "start-server-and-test", "start-test", "server-test", "concurrently":
		for _, word := range s.words {
			if inner, ok := classifyText(word); ok {
				return stepBrowser, inner
			}
		}
	}
	if kind := classifyForPackages(program, args); kind != stepOther {
		return kind, program
	}
	if slices.Contains(browserPrograms, program) && first != "init" {
		return stepBrowser, program
	}
	if s.words == nil {
		if inner, ok := classifyText(s.text); ok {
			return stepBrowser, inner
		}
	}
	return stepOther, program
}

// isOtherBrowser reports whether an argument makes vitest use a browser other than Chromium.
func isOtherBrowser(word string) bool {
	name, ok := strings.CutPrefix(word, "--browser=")
	if !ok {
		name, ok = strings.CutPrefix(word, "--browser.name=")
	}
	return ok && slices.Contains([]string{"firefox", "webkit", "safari", "edge"}, name)
}

// classifyText returns the program that runs tests in a browser within a text that is not a simple command.
func classifyText(text string) (program string, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t;|&(){}'\"", r) })
	for i, word := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		name := path.Base(word)
		if name == "playwright" && next == "test" || name == "cypress" && next == "run" ||
			slices.Contains(browserPrograms, name) {
			return name, true
		}
	}
	return "", false
}
