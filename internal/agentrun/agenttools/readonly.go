package agenttools

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/boundedparse/bash"
	"company/internal/lib/lazyregexp"
)

// readers lists programs that never change files, with any arguments.
var readers = map[string]bool{
	"basename": true, "cat": true, "cd": true, "cmp": true, "comm": true, "cut": true, "diff": true, "dirname": true,
	"du": true, "echo": true, "egrep": true, "false": true, "fgrep": true,
	"grep": true, "head": true, "jq": true, "ls": true, "md5sum": true, "nl": true, "od": true, "printf": true,
	"pwd": true, "readlink": true, "realpath": true, "sha256sum": true, "sleep": true,
	"stat": true, "tail": true, "test": true, "[": true, "tr": true, "true": true, "wc": true, "which": true,
}

// gitReaders lists git's commands that only read.
var gitReaders = map[string]bool{
	"blame": true, "cat-file": true, "describe": true, "diff": true, "grep": true, "log": true, "ls-files": true,
	"ls-tree":    true,
	"merge-base": true, "rev-list": true, "rev-parse": true, "shortlog": true, "show": true, "status": true,
}

// writingOptions lists prefixes of options with which a reading program writes a file or runs another program.
var writingOptions = map[string][]string{
	"find": {"-exec", "-ok", "-delete", "-fprint", "-fls"},
	"rg":   {"--pre", "--hostname-bin", "--search-zip", "-z"},
	"sort": {"-o", "--o", "--compress", "-T"},
	"git": {"-c", "--config", "--exec-path", "--output", "-o", "-O", "--open-files", "--ext-diff", "--textconv",
		"--filters", "--paginate", "-p"},
}

// aSedPrint matches a sed script that only prints lines by number.
var aSedPrint = lazyregexp.New(`^[0-9$,;p ]+$`)

// readsFiles reports whether a program certainly only reads when called with these arguments.
func readsFiles(words []string) bool {
	name, args := words[0], words[1:]
	writes := slices.ContainsFunc(args, func(arg string) bool {
		return slices.ContainsFunc(writingOptions[name], func(option string) bool { return strings.HasPrefix(arg, option) })
	})
	switch name {
	case "find", "rg", "sort":
		return !writes
	case "sed":
		return len(args) > 1 && args[0] == "-n" && aSedPrint.MatchString(args[1]) &&
			!slices.ContainsFunc(args[2:], func(arg string) bool { return strings.HasPrefix(arg, "-") })
	case "git":
		for len(args) > 0 && (args[0] == "--no-pager" || args[0] == "-P") {
			args = args[1:]
		}
		if len(args) == 0 || !gitReaders[args[0]] {
			return false
		}
		if args[0] == "log" || args[0] == "show" || args[0] == "diff" { // here -p and -O select a patch and its order
			return !slices.ContainsFunc(args, func(arg string) bool {
				return strings.HasPrefix(arg, "--output") || arg == "--ext-diff" || arg == "--textconv"
			})
		}
		return !writes
	}
	return readers[name]
}

// plainWord returns the text of an argument. ok is false if the argument has expansions.
func plainWord(w *syntax.Word) (text string, ok bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, is := inner.(*syntax.Lit)
				if !is {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// readsOnly reports whether a command certainly leaves the work tree unchanged, so that no checkpoint is needed.
// In doubt it returns false: for any redirection to a file, assignment, expansion, or program that is not known
// to only read.
func readsOnly(command string) bool {
	file, err := bash.Parse(command)
	if err != nil {
		return false
	}
	pure := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			// 2>&1 and >/dev/null are common and write no file; >&name writes a file.
			to := n.Word.Lit()
			pure = pure && (n.Op == syntax.DplOut && (to == "1" || to == "2") || to == "/dev/null")
		case *syntax.CallExpr:
			words := make([]string, len(n.Args))
			for i, w := range n.Args {
				text, ok := plainWord(w)
				words[i], pure = text, pure && ok
			}
			pure = pure && len(n.Assigns) == 0 && len(words) > 0 && readsFiles(words)
		case *syntax.File, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted,
			*syntax.Comment, nil:
		default:
			pure = false
		}
		return pure
	})
	return pure
}

// committers lists git's commands that make commits.
var committers = map[string]bool{
	"commit": true, "merge": true, "revert": true, "cherry-pick": true, "rebase": true, "am": true, "stash": true,
	"pull": true, "commit-tree": true, "tag": true,
}

// runsGitCommit reports whether a command calls git directly to make a commit. Other programs that commit keep
// their own dates, because their tests may check them.
func runsGitCommit(command string) bool {
	file, err := bash.Parse(command)
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
					i++ // this option takes a value
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
