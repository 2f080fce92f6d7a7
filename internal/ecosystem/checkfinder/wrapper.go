package checkfinder

import (
	"path"
	"slices"
	"strings"
	"sync"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// wrapper is a program that runs the command in its arguments.
type wrapper struct {
	words []string
	flags []string // its flags that take a value
	args  int      // number of its own arguments before the command, such as a timeout or a container
	// manages means that it only prepares the environment of the command, which a check already has: Python packages or
	// a container.
	manages bool
}

var (
	pythonFlags = strings.Fields(
		"--with --with-requirements --with-editable --from --extra --no-extra --group --no-group --only-group -p --python " +
			"--package --project -P --directory -C --env-file --index --default-index --index-url --extra-index-url --color " +
			"-e --env --environment -n --name --prefix --manifest-path")
	containerFlags = strings.Fields(
		"-v --volume -e --env -w --workdir --name -u --user --network --net -p --publish --entrypoint -f --file --platform " +
			"-m --memory --cpus --env-file --mount --add-host --pull --profile -l --label --project-name --shm-size --ulimit " +
			"--index")
)

var wrappers = []wrapper{
	{words: []string{"exec"}}, {words: []string{"env"}, flags: []string{"-u"}}, {words: []string{"time"}},
	{words: []string{"sudo"}, flags: []string{"-u"}},
	{words: []string{"nice"}, flags: []string{"-n"}},
	{words: []string{"timeout"}, flags: []string{"-s", "-k", "--signal", "--kill-after"}, args: 1},
	{words: []string{"xvfb-run"}, flags: []string{"-s", "-n"}}, {words: []string{"catchsegv"}},
	{words: []string{"uv", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"uv", "tool", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"uvx"}, flags: pythonFlags, manages: true},
	{words: []string{"poetry", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"pdm", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"hatch", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"pipenv", "run"}, manages: true}, {words: []string{"rye", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"pipx", "run"}, flags: []string{"--spec"}, manages: true},
	{words: []string{"conda", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"mamba", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"micromamba", "run"}, flags: pythonFlags, manages: true},
	{words: []string{"pixi", "run"}, flags: pythonFlags, manages: true}, {words: []string{"mise", "exec"}, manages: true},
	{words: []string{"mise", "x"}, manages: true}, {words: []string{"nix", "develop"}, manages: true},
	{words: []string{"docker", "run"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"docker", "exec"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"docker", "compose", "run"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"docker", "compose", "exec"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"docker-compose", "run"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"docker-compose", "exec"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"podman", "run"}, flags: containerFlags, args: 1, manages: true},
	{words: []string{"npx"}, flags: []string{"-p", "--package"}}, {words: []string{"pnpm", "exec"}},
	{words: []string{"pnpm", "dlx"}}, {words: []string{"yarn", "exec"}}, {words: []string{"bunx"}},
	{words: []string{"npm", "exec"}}, {words: []string{"bundle", "exec"}}, {words: []string{"composer", "exec"}},
	{words: []string{"coverage", "run"}, flags: []string{"--source"}}, {words: []string{"cross-env"}},
	{words: []string{"dotenv"}},
	{words: []string{"xargs"},
		flags: []string{"-n", "-P", "-I", "-L", "-d", "-s", "-a", "--max-args", "--max-procs", "--replace", "--delimiter"}},
	{words: []string{"c8"}}, {words: []string{"nyc"}}, {words: []string{"opam", "exec"}}, {words: []string{"go", "tool"}},
}

// wrapping returns the wrappers by program name. A map is needed because a script may have hundreds of thousands of
// calls.
var wrapping = sync.OnceValue(func() map[string][]wrapper {
	out := map[string][]wrapper{}
	for _, w := range wrappers {
		out[w.words[0]] = append(out[w.words[0]], w)
	}
	return out
})

// cutWrapper returns the command without its wrapper.
func cutWrapper(words []string) (rest []string, by wrapper, ok bool) {
	if len(words) == 0 {
		return nil, wrapper{}, false
	}
	for _, w := range wrapping()[path.Base(words[0])] {
		if rest, ok := w.cut(words); ok {
			return rest, w, true
		}
	}
	return nil, wrapper{}, false
}

// scriptRunners lists programs that run both other programs and scripts that the project names.
var scriptRunners = []string{"hatch", "pdm", "pixi", "rye", "poetry", "uv", "mise"}

// cut returns the command after a wrapper.
func (w wrapper) cut(words []string) (rest []string, ok bool) {
	if w.words[0] == "nix" && len(words) > 0 && words[0] == "nix" {
		// the shell to enter may precede the flag for the command
		index := slices.IndexFunc(words, func(w string) bool { return w == "-c" || w == "--command" })
		return words[index+1:], index > 0 && index+1 < len(words)
	}
	rest = words
	for i, name := range w.words {
		if i > 0 {
			rest = skipFlags(rest, w.flags)
		}
		if len(rest) == 0 || i == 0 && path.Base(rest[0]) != name || i > 0 && rest[0] != name {
			return nil, false
		}
		rest = rest[1:]
	}
	rest = skipFlags(rest, w.flags)
	rest = rest[min(len(rest), w.args):]
	return rest, len(rest) > 0
}

// pythonRE matches the names of Python interpreters.
var pythonRE = lazyregexp.New(`^(python[0-9.]*|pypy[0-9.]*)$`)

// interpreters lists programs that run the file in their first argument.
var interpreters = []string{"bash", "sh", "ruby", "node", "perl", "php"}

// skipInterpreter returns a command without the interpreter of its program: php vendor/bin/phpstan, node
// node_modules/.bin/jest. Without a file argument, it returns the command unchanged.
func skipInterpreter(words []string) []string {
	if len(words) == 0 {
		return words
	}
	program := path.Base(words[0])
	if !pythonRE.MatchString(program) && !slices.Contains(interpreters, program) {
		return words
	}
	var withValue []string
	if program == "php" {
		withValue = []string{"-d", "-c"}
	}
	if rest := skipFlags(words[1:], withValue); len(rest) > 0 && !strings.Contains(rest[0], unknown) {
		return rest
	}
	return words
}

// cargoTools lists subcommands of cargo that run another subcommand from their arguments.
var cargoTools = []string{"hack", "careful", "minimal-versions"}

// unwrapCommand returns the innermost command, without wrappers and assignments.
func (c call) unwrapCommand() []string {
	words := c.words
	for range 8 {
		was := len(words)
		for len(words) > 0 && assignmentRE.MatchString(words[0]) {
			words = words[1:]
		}
		if rest, _, ok := cutWrapper(words); ok {
			words = rest
		}
		if len(words) > 2 && pythonRE.MatchString(path.Base(words[0])) {
			if rest := skipFlags(words[1:], []string{"-W", "-X"}); len(rest) > 0 &&
				slices.Contains(words[1:len(words)-len(rest)], "-m") {
				words = rest
			}
		}
		if len(words) > 1 && words[0] == "-m" { // coverage run -m pytest
			words = words[1:]
		}
		switch {
		case len(words) == 0:
		case len(words) > 1 && slices.Contains([]string{"yarn", "pnpm", "bun"}, words[0]):
			// These clients run programs of packages in the same way as scripts.
			rest := words[1:]
			if rest[0] == "run" && len(rest) > 1 {
				rest = rest[1:]
			}
			if isChecker(rest[0]) || slices.Contains(taskRunners, rest[0]) {
				words = rest
			}
		case words[0] == "find" && words[len(words)-1] == "+": // find -exec … + fails if the command fails
			if index := slices.Index(words, "-exec"); index > 0 && index+2 < len(words) {
				words = words[index+1 : len(words)-1]
			}
		case len(words) > 2 && words[0] == "cargo" &&
			(strings.HasPrefix(words[1], "+") || slices.Contains(cargoTools, words[1])):
			words = append([]string{"cargo"}, words[2:]...)
		case len(words) > 2 && words[0] == "go" && words[1] == "run" && strings.Contains(words[2], "@"):
			name, _, _ := strings.Cut(path.Base(words[2]), "@")
			words = append([]string{name}, words[3:]...)
		}
		if len(words) == was {
			break
		}
	}
	return words
}

// isChecker reports whether a program tests or lints with any arguments.
func isChecker(program string) bool {
	return slices.Contains(testers, program) || slices.Contains(linters, program)
}

var assignmentRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// skipFlags drops leading flags and their values.
func skipFlags(words, withValue []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if words[0] == "--" || words[0] == "-m" {
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

// namesScript reports whether a call of a script runner names a script of the project instead of a program.
func (c call) namesScript(words []string) bool {
	return slices.Contains(scriptRunners, path.Base(c.words[0])) && !isChecker(programName(words[0])) &&
		!strings.ContainsAny(words[0], "/.") && !pythonRE.MatchString(words[0]) && kindOfWord(words[0]) != ""
}

// Bare returns the command without wrappers that only prepare the CI's environment, such as uv run and docker compose
// run app. The image has that environment but none of these programs.
func (c Command) Bare() string {
	words := c.call.words
	for {
		rest, by, ok := cutWrapper(words)
		if !ok || !by.manages {
			break
		}
		words = rest
	}
	if len(words) == 0 || slices.ContainsFunc(
		words, func(w string) bool { return strings.Contains(w, unknown) || ciValue.MatchString(w) }) {
		return c.Command
	}
	managed := len(words) < len(c.call.words)
	if managed && c.call.namesScript(words) {
		return c.Command
	}
	switch {
	case words[0] == "python":
		words = append([]string{"python3"}, words[1:]...)
	case managed && path.Ext(words[0]) == ".py":
		words = append([]string{"python3"}, words...)
	case words[0] == "cargo" && len(words) > 1 && strings.HasPrefix(words[1], "+"): // a toolchain of rustup's
		words = append([]string{"cargo"}, words[2:]...)
	case !managed:
		return c.Command
	}
	text := ""
	for _, assign := range c.call.assigns {
		name, value, _ := strings.Cut(assign, "=")
		if strings.Contains(value, unknown) {
			return c.Command
		}
		text += name + "=" + shellquote.QuoteArgument(value) + " "
	}
	for i, w := range words {
		if i > 0 {
			text += " "
		}
		text += shellquote.QuoteArgument(w)
	}
	return text
}
