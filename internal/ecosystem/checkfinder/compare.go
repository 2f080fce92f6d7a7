package checkfinder

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// gitRE matches a git query in a shell script or a program. Without git, many such programs find no files and
// succeed.
var gitRE = lazyregexp.New(
	`(^|[^\w./-])git["',\s]+(-[Cc]\s*\S+\s+)?(add|archive|blame|branch|cat-file|check-attr|check-ignore|checkout|commit|config|describe|diff[a-z-]*|for-each-ref|grep|log|ls-files|ls-tree|merge-base|remote|reset|rev-list|rev-parse|show|stash|status|symbolic-ref|tag|update-index)\b`)

// asksGit reports whether a command in a folder, or a script that it runs, depends on git.
func (c *collector) asksGit(text string, one call, dir string, depth int) bool {
	if gitRE.MatchString(text) {
		return true
	}
	if c.room--; depth == maxIndirection || c.room < 0 {
		return false
	}
	at := path.Join(dir, one.dir)
	for _, runs := range c.scripts[scopeKey(one.commandKey(), at)] {
		if gitRE.MatchString(runs) {
			return true
		}
		for _, inner := range c.parse(runs) {
			if c.asksGit(inner.text, inner, at, depth+1) {
				return true
			}
		}
	}
	words := skipInterpreter(one.unwrapCommand())
	return len(words) > 0 && c.tree.AnyMatches(c.scriptFiles(path.Join(at, words[0])), gitRE)
}

// scriptFiles returns the file of the tree with this name if it is small enough for a script.
func (c *collector) scriptFiles(name string) []ecosystem.File {
	if f, ok := c.tree.Files[name]; ok && f.Size <= maxScript {
		return []ecosystem.File{f}
	}
	return nil
}

// comparesTree reports whether a call fails if the tree differs from the commit: git diff --exit-code, or a test of
// the output of git status.
func (c call) comparesTree() bool {
	if len(c.words) < 2 || c.words[0] != "git" {
		return false
	}
	rest := skipFlags(c.words[1:], []string{"-C", "-c"})
	if len(rest) == 0 {
		return false
	}
	if c.asked {
		return slices.Contains([]string{"status", "diff", "ls-files"}, rest[0])
	}
	return slices.Contains([]string{"diff", "diff-index", "diff-files"}, rest[0]) &&
		slices.ContainsFunc(rest, func(w string) bool { return w == "--exit-code" || w == "--quiet" })
}

// wrote is a call that may have written into the tree, with its folder.
type wrote struct {
	call call
	dir  string
}

// mayWrite reports whether a call may write files that a later comparison of the tree finds, as generators,
// formatters and builds do. It excludes calls that prepare the machine or fetch packages, and checks, which would run
// twice.
func (c call) mayWrite() bool {
	words := c.unwrapCommand()
	if len(words) == 0 || c.soft || strings.Contains(words[0], unknown) {
		return false
	}
	if program := path.Base(words[0]); slices.Contains(aside, program) && program != "cp" && program != "sed" ||
		slices.Contains(fetching, program) {
		return false
	}
	if len(words) == 1 && slices.Contains(scripted, words[0]) { // yarn without arguments installs packages
		return false
	}
	if rest := skipFlags(words[1:], flagsWithValue); len(rest) > 0 && slices.Contains(fetching, rest[0]) {
		return false
	}
	return c.checkKind() == ""
}

// fetching lists programs and subcommands that fetch what a check here already has.
var fetching = strings.Fields(
	`install i ci add get download login config cache link env version restore tool sync corepack`)

// joinWriters joins the calls that may have written before a comparison with the comparison. The command runs in the
// folder of the comparison. It returns false if there are no such calls.
func joinWriters(before []wrote, comparison call, dir string) (text string, open, ok bool) {
	var parts []string
	for _, w := range before {
		parts, open = append(parts, textFrom(dir, w, false)), open || w.call.open || w.call.lost || len(w.call.params) > 0
	}
	if len(parts) == 0 {
		return "", false, false
	}
	return strings.Join(append(parts, flattenLines(comparison.text)), " && "), open, true
}
