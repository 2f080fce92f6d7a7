package python

import (
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

var (
	noxFunctionRE = lazyregexp.New(`(?m)^def\s+(\w+)\s*\(\s*(\w+)`)
	noxCallRE     = lazyregexp.New(`\b(install|run|run_always)\(`)
)

// readNoxFile reads a noxfile.py: the installations and commands of the session that runs the tests. It
// reads only string literals and runs no code.
func readNoxFile(text string) (best environmentRun) {
	all := noxFunctionRE.FindAllStringSubmatchIndex(text, 100)
	for i, at := range all {
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		name := text[at[2]:at[3]]
		run := readNoxSession(text[at[1]:end], text[at[4]:at[5]])
		if !hasTestCommand(run.commands) ||
			slices.ContainsFunc(strings.Split(name, "_"), func(w string) bool { return slices.Contains(otherWords, w) }) {
			continue
		}
		if isForTests(name, nil) {
			return run
		}
		if best.file == "" {
			best = run
		}
	}
	return best
}

// readNoxSession reads the body of one session.
func readNoxSession(body, session string) environmentRun {
	run := environmentRun{file: "noxfile.py", set: map[string]string{}}
	for _, at := range noxCallRE.FindAllStringSubmatchIndex(body, 100) {
		if !strings.HasSuffix(body[:at[0]], session+".") {
			continue
		}
		words := callTexts(body[at[1]:])
		switch body[at[2]:at[3]] {
		case "install":
			for i := 0; i < len(words); i++ {
				if w := words[i]; (w == "-r" || w == "-e" || w == "--requirement") && i+1 < len(words) {
					i++
					run.wish.addArgument(w + " " + words[i])
				} else {
					run.wish.addArgument(words[i])
				}
			}
		case "run", "run_always":
			var line []string
			for _, w := range words {
				line = append(line, quoteWord(w))
			}
			run.commands = append(run.commands, strings.Join(line, " "))
		}
	}
	return run
}

// callTexts returns the string arguments of a call, where text begins after the opening bracket. Keyword
// arguments and computed values are left out.
func callTexts(text string) (out []string) {
	depth := 0
	tokens, _ := readTokens(text, 200)
	for i, t := range tokens {
		switch t {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth < 0 {
				return out
			}
		}
		if text, ok := textOf(t); ok && depth == 0 && (i == 0 || tokens[i-1] != "=") {
			out = append(out, text)
		}
	}
	return out
}
