package agenttools

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readers are programs that, whatever their arguments, leave files alone.
var readers = map[string]bool{
	"cat": true, "cut": true, "diff": true, "du": true, "echo": true, "egrep": true, "false": true, "fgrep": true,
	"grep": true, "head": true, "ls": true, "printf": true, "pwd": true, "sleep": true,
	"stat": true, "tail": true, "test": true, "[": true, "tr": true, "true": true, "wc": true, "which": true,
}

// readsOnly reports that a command surely leaves the work tree as it is, so
// that no checkpoint is made for it. It errs towards false: any redirection,
// assignment, expansion that runs something, or program that is not known to
// only read makes it so.
func readsOnly(command string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return false
	}
	pure := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			// 2>&1 and >/dev/null are everywhere and write nothing; >&name
			// writes a file.
			to := n.Word.Lit()
			pure = pure && (n.Op == syntax.DplOut && (to == "1" || to == "2") || to == "/dev/null")
		case *syntax.CallExpr:
			pure = pure && len(n.Assigns) == 0 && len(n.Args) > 0 && readers[n.Args[0].Lit()]
		case *syntax.File, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.Comment, nil:
		default:
			pure = false
		}
		return pure
	})
	return pure
}

// committers are git's commands that make commits.
var committers = map[string]bool{
	"commit": true, "merge": true, "revert": true, "cherry-pick": true, "rebase": true, "am": true, "stash": true, "pull": true, "commit-tree": true, "tag": true,
}

// runsGitCommit reports that a command calls git itself to make a commit. Programs
// that do so unseen are left alone: their own tests may look at dates.
func runsGitCommit(command string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if ok && len(call.Args) > 1 && call.Args[0].Lit() == "git" {
			for i := 1; i < len(call.Args); i++ {
				word := call.Args[i].Lit()
				if word == "-c" || word == "-C" {
					i++ // takes a value
				} else if !strings.HasPrefix(word, "-") {
					found = found || committers[word]
					break
				}
			}
		}
		return !found
	})
	return found
}
