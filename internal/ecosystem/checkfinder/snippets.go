package checkfinder

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// snippet is a block of commands in documentation.
type snippet struct {
	text string
	file string
	line int
}

// guideNames lists documents about working on a repository, the one for contributors first.
var guideNames = []string{"contributing", "hacking", "development", "developing", "readme"}

// maxSnippets limits the blocks of all documents.
const maxSnippets = 100

// findSnippets returns the blocks of shell commands in the guides of a tree.
func findSnippets(tree *ecosystem.Tree) []snippet {
	var out []snippet
	for _, want := range guideNames {
		for _, dir := range []string{"", ".github", "docs"} {
			for _, name := range slices.Sorted(slices.Values(tree.Dirs[dir])) {
				stem, ext := strings.ToLower(strings.TrimSuffix(name, path.Ext(name))), strings.ToLower(path.Ext(name))
				if stem != want {
					continue
				}
				text := tree.ReadManifest(dir, name)
				switch ext {
				case ".md", ".markdown", "":
					out = append(out, findFences(text, path.Join(dir, name))...)
				case ".rst", ".txt":
					out = append(out, findDirectives(text, path.Join(dir, name))...)
				}
			}
		}
	}
	return out[:min(len(out), maxSnippets)]
}

var (
	fenceRE     = lazyregexp.New("^\\s{0,3}(```+|~~~+)\\s*([A-Za-z0-9_+-]*)")
	directiveRE = lazyregexp.New(`^(\s*)(?:\.\. (?:code-block|code|sourcecode|parsed-literal)::\s*([A-Za-z-]*)|.*::)\s*$`)
	// promptRE matches the prompt before a command in a transcript.
	promptRE = lazyregexp.New(`^\s*[$%>]\s+`)
	shells   = []string{"", "sh", "bash", "shell", "console", "zsh", "shell-session", "shellsession", "terminal", "text",
		"none", "cmd"}
)

// findFences returns the fenced blocks of Markdown that may contain shell commands.
func findFences(text, file string) []snippet {
	var out []snippet
	var block []string
	var fence string
	var begin int
	var keep bool
	for i, line := range strings.Split(text, "\n") {
		m := fenceRE.FindStringSubmatch(line)
		switch {
		case fence == "" && m != nil:
			fence = m[1]
			begin = i + 2
			block = nil
			keep = slices.Contains(shells, strings.ToLower(m[2]))
		case fence != "" && m != nil && strings.HasPrefix(m[1], fence) && m[2] == "":
			if keep {
				out = append(out, newSnippet(block, file, begin))
			}
			fence = ""
		case fence != "":
			block = append(block, line)
		}
	}
	return out
}

// findDirectives returns the code blocks of reStructuredText: indented text after a directive or after a line that
// ends in two colons.
func findDirectives(text, file string) []snippet {
	var out []snippet
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := directiveRE.FindStringSubmatch(lines[i])
		if m == nil || !slices.Contains(shells, strings.ToLower(m[2])) {
			continue
		}
		var block []string
		begin := i + 1
		for begin < len(lines) && (strings.TrimSpace(lines[begin]) == "" ||
			strings.HasPrefix(strings.TrimSpace(lines[begin]), ":")) {
			begin++
		}
		for j := begin; j < len(lines) && (strings.TrimSpace(lines[j]) == "" || indentOf(lines[j]) > len(m[1])); j++ {
			block = append(block, lines[j])
			i = j
		}
		out = append(out, newSnippet(block, file, begin+1))
	}
	return out
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// newSnippet returns the commands of a block, one a line. If some lines have a prompt, lines without one are output
// and are dropped.
func newSnippet(block []string, file string, line int) snippet {
	prompted := slices.ContainsFunc(block, promptRE.MatchString)
	goesOn := false
	for i, l := range block {
		switch {
		case !prompted, goesOn:
			block[i] = strings.TrimSpace(l)
		case promptRE.MatchString(l):
			block[i] = strings.TrimSpace(promptRE.ReplaceAllString(l, ""))
		default:
			block[i] = ""
		}
		goesOn = strings.HasSuffix(block[i], `\`)
	}
	return snippet{text: strings.Join(block, "\n"), file: file, line: line}
}
