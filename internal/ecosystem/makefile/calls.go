package makefile

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var (
	// assignmentRE is a variable that may hold a program: GO ?= go.
	assignmentRE = lazyregexp.New(`^[ ]*(?:export[ ]+)?[A-Za-z_][A-Za-z0-9_]*[ ]*(?:[?:+]|::)?=[ ]*(.*)$`)
	shellRE      = lazyregexp.New(`\$\(shell[ ]+([^)]*)`)
	// commandEndRE is what another command may stand behind.
	commandEndRE = lazyregexp.New(`&&|\|\||[;|&(){}` + "`" + `]`)
)

// wrappers are prefixes of a program.
var wrappers = []string{"exec", "time", "env", "then", "do", "else", "if", "while", "!", "command", "sudo"}

// Calls are the commands of the Makefile at the root and of what it may include:
// lines of recipes, what $(shell …) runs, and the values of variables.
func (Ecosystem) Calls(tree *ecosystem.Tree) []string {
	var files []ecosystem.File
	for _, file := range tree.Makefiles() {
		dir, name := ecosystem.SplitPath(file.Path)
		if file.Size <= ecosystem.MaxManifest &&
			(dir == "" && slices.Contains(makefiles, name) ||
				!slices.Contains(makefiles, name) && !ecosystem.IsForeignDir(dir)) {
			files = append(files, file)
		}
	}
	var out []string
	tree.ReadTexts(files, func(_ ecosystem.File, text []byte) {
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
			out = append(out, lineCalls(strings.TrimRight(line, "\r\n"))...)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// lineCalls are the commands of one line of a Makefile.
func lineCalls(line string) (out []string) {
	for _, m := range shellRE.FindAllStringSubmatch(line, -1) {
		out = append(out, splitCommands(m[1])...)
	}
	recipe, isRecipe := strings.CutPrefix(line, "\t")
	switch {
	case isRecipe:
		out = append(out, splitCommands(strings.TrimLeft(recipe, " \t@-+"))...)
	case strings.HasPrefix(strings.TrimSpace(line), "#"):
	default:
		if m := assignmentRE.FindStringSubmatch(line); m != nil {
			out = append(out, splitCommands(m[1])...)
		} else if _, after, ok := strings.Cut(line, ":"); ok { // a target with its recipe behind it
			if _, after, ok = strings.Cut(after, ";"); ok {
				out = append(out, splitCommands(after)...)
			}
		}
	}
	return out
}

// splitCommands are the commands of a line of the shell, without variables and
// wrappers before them.
func splitCommands(line string) (out []string) {
	for _, command := range commandEndRE.Split(line, -1) {
		words := strings.Fields(command)
		for len(words) > 0 && (slices.Contains(wrappers, words[0]) || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
		if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}
