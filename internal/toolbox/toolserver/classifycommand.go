package toolserver

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/blocklist"
	"company/internal/lib/boundedparse/bash"
	"company/internal/toolbox/serverprogram"
)

// verdict is the classification of a command before it runs.
type verdict struct {
	interactive string // reason for a refusal; empty if there is none
	server      string // a server program that would not end by itself
	forks       bool   // the script starts a background command with &
	blocked     blocklist.Blocked
	// programs has the names of the programs that the command starts. Builtins of bash are left out. It contains unknown
	// if a part of the command cannot be read.
	programs []string
	secrets  []string // arguments and files that have the name of a file with secrets
}

// classifyCommand classifies a command as bash would parse it. It accepts a command that it cannot parse: bash has a
// better message, and stdin is closed anyway. It helps the model and is not a security barrier.
func classifyCommand(command string) verdict {
	i := inspector{functions: make(map[string]bool)}
	i.inspectScript(command, 0)
	if i.sql {
		blocked, _ := blocklist.FindPrintedDrop(command)
		i.verdict.blocked = cmp.Or(i.verdict.blocked, blocked)
	}
	return i.verdict
}

type inspector struct {
	verdict   verdict
	sql       bool            // a client of a database runs, which may read what the script prints
	functions map[string]bool // functions that the script defines
	calls     int             // number of inspectCall calls
}

// Limits of the inspection. Each find that runs another find doubles the calls.
const (
	maxNesting = 8 // nested levels of sh -c "sh -c …"
	maxCalls   = 10_000
)

func (i *inspector) inspectScript(text string, depth int) {
	if depth > maxNesting || text == unknown {
		i.notePrograms(unknown)
		return
	}
	file, err := bash.Parse(strings.ReplaceAll(text, unknown, "$_"))
	if err != nil {
		i.notePrograms(unknown)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			i.functions[f.Name.Value] = true
		}
		return true
	})
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			i.verdict.forks = i.verdict.forks || n.Background
			for _, redirect := range n.Redirs {
				if redirect.Word != nil && redirect.Hdoc == nil {
					i.noteSecrets(wordText(redirect.Word))
				}
			}
		case *syntax.CallExpr:
			var words []string
			for _, w := range n.Args {
				words = append(words, wordText(w))
			}
			// A command that prints its words or searches for one needs no file of that name.
			if len(words) > 1 && !slices.Contains([]string{"echo", "printf", "git", "[", "test"}, words[0]) {
				i.noteSecrets(words[1:]...)
			}
			assigned := make(map[string]bool)
			for _, a := range n.Assigns {
				if a.Name != nil {
					assigned[a.Name.Value] = true
				}
			}
			i.inspectCall(words, assigned, depth)
		}
		return true
	})
}

// unknown stands for text that only the shell can expand.
const unknown = "\x00"

// wordText returns the text of an argument after quoting, with unknown for each part that only the shell can expand.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(dropBackslashes(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				switch inner := inner.(type) {
				case *syntax.Lit:
					b.WriteString(unescapeQuoted(inner.Value))
				case *syntax.ParamExp:
					b.WriteString(paramText(inner))
				default:
					b.WriteString(unknown)
				}
			}
		case *syntax.ParamExp:
			b.WriteString(paramText(p))
		default:
			b.WriteString(unknown)
		}
	}
	return b.String()
}

// paramText returns a path for the variables that name the home folder and the current one, and otherwise unknown.
func paramText(p *syntax.ParamExp) string {
	if p.Param != nil && p.Exp == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && !p.Length {
		switch p.Param.Value {
		case "HOME":
			return "~"
		case "PWD":
			return "."
		}
	}
	return unknown
}

// dropBackslashes drops the backslashes of unquoted text.
func dropBackslashes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for j := 0; j < len(s); j++ {
		if s[j] == '\\' && j+1 < len(s) {
			if j++; s[j] == '\n' {
				continue
			}
		}
		b.WriteByte(s[j])
	}
	return b.String()
}

// unescapeQuoted drops the backslashes that are special between double quotes.
func unescapeQuoted(s string) string {
	return strings.NewReplacer("\\\n", "", `\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(s)
}

// wrappers are programs that run the command after their own options and operands. valued lists the options that take
// an argument.
var wrappers = map[string]struct {
	operands int // before the command
	valued   string
}{
	"sudo": {0, "-u -g -h -p -C -D -R -T --user --group"}, "doas": {0, "-u -C"},
	"env": {0, "-u -C -S --unset --chdir"}, "nohup": {}, "setsid": {}, "exec": {0, "-a"}, "command": {}, "builtin": {},
	"nice": {0, "-n --adjustment"}, "ionice": {0, "-c -n"}, "stdbuf": {0, "-i -o -e"}, "time": {0, "-o -f"},
	"timeout": {1, "-s -k --signal --kill-after"}, "unbuffer": {}, "chronic": {}, "busybox": {}, "caffeinate": {},
	"xargs":  {0, "-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file"},
	"chroot": {1, ""}, "runuser": {0, "-u"}, "flock": {1, "-w -E"}, "npx": {0, "-p --package"}, "bunx": {},
	"dotenv": {0, "-e -f"}, "cross-env": {},
	"strace": {0, "-o -e -p -s"}, "coproc": {},
}

var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// inspectCall inspects a simple command, including the command that a wrapper runs.
func (i *inspector) inspectCall(words []string, assigned map[string]bool, depth int) {
	if i.calls++; i.calls > maxCalls {
		i.notePrograms(unknown)
		return
	}
	noted := false // the program that starts all others is noted
	for n := 0; len(words) > 0 && n < 16; n++ {
		if n == 0 && i.functions[words[0]] { // a wrapper starts no functions
			return
		}
		name, args := path.Base(words[0]), words[1:]
		wrap, wraps := wrappers[name]
		switch {
		case slices.Contains(shells, name) || name == "su" && slices.Contains(args, "-c"):
			if text, ok := shellScript(args); ok {
				i.inspectScript(text, depth+1)
			} else {
				i.notePrograms(name)
			}
			return
		case name == "eval":
			i.inspectScript(strings.Join(args, " "), depth+1)
			return
		case name == "trap":
			if args = skipOptions(args, "", 0, assigned); len(args) > 1 && args[0] != "-" {
				i.inspectScript(args[0], depth+1)
			}
			return
		case name == "npx" || name == "bunx":
			// What they start comes from a registry or the project, not from the image.
			i.notePrograms(name)
			noted = true
		case name == "find":
			i.notePrograms(name)
			for j, a := range args {
				if a == "-exec" || a == "-execdir" || a == "-ok" || a == "-okdir" {
					i.inspectCall(args[j+1:], assigned, depth)
				}
			}
			return
		case name == "env":
			for j, a := range args {
				if text, ok := strings.CutPrefix(a, "--split-string="); ok {
					i.inspectScript(text, depth+1)
				} else if a == "-S" && j+1 < len(args) {
					i.inspectScript(args[j+1], depth+1)
				}
			}
		case name == "command" && len(args) > 0 && (args[0] == "-v" || args[0] == "-V"):
			return
		}
		if !wraps {
			if !noted && (name != words[0] || !slices.Contains(builtins, name)) {
				i.notePrograms(name)
			}
			i.inspectProgram(name, args, assigned)
			return
		}
		if name == "timeout" {
			// It ends by itself, so a server under it may run in the foreground.
			inner := inspector{functions: i.functions, calls: i.calls}
			inner.inspectCall(skipOptions(args, wrap.valued, wrap.operands, assigned), assigned, depth+1)
			i.calls = inner.calls
			i.verdict.interactive = cmp.Or(i.verdict.interactive, inner.verdict.interactive)
			i.verdict.blocked = cmp.Or(i.verdict.blocked, inner.verdict.blocked)
			i.verdict.secrets = append(i.verdict.secrets, inner.verdict.secrets...)
			i.notePrograms(inner.verdict.programs...)
			return
		}
		words = skipOptions(args, wrap.valued, wrap.operands, assigned)
	}
	if len(words) > 0 {
		i.notePrograms(unknown)
	}
}

// builtins are the commands of bash that start nothing. "." and "source" are not among them, since they run a script.
var builtins = strings.Fields(": [ alias bg bind break caller cd compgen complete compopt continue declare dirs " +
	"disown echo enable exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd " +
	"pwd read readarray readonly return set shift shopt suspend test times true type typeset ulimit umask unalias unset " +
	"wait")

// notePrograms notes programs that the command starts.
func (i *inspector) notePrograms(names ...string) {
	for _, name := range names {
		if strings.Contains(name, unknown) {
			name = unknown
		} else if name == "." {
			name = "source"
		}
		if !slices.Contains(i.verdict.programs, name) {
			i.verdict.programs = append(i.verdict.programs, name)
		}
	}
}

// skipOptions drops a wrapper's options, assignments and operands.
func skipOptions(args []string, valued string, operands int, assigned map[string]bool) []string {
	takes := strings.Fields(valued)
	for len(args) > 0 {
		a := args[0]
		switch {
		case a == "--":
			args = args[1:]
			return args[min(operands, len(args)):]
		case strings.HasPrefix(a, "-") && len(a) > 1:
			args = args[1:]
			if slices.Contains(takes, a) && len(args) > 0 {
				args = args[1:]
			}
		case operands == 0 && strings.Contains(a, "=") && syntax.ValidName(a[:strings.IndexByte(a, '=')]):
			assigned[a[:strings.IndexByte(a, '=')]] = true
			args = args[1:]
		case operands > 0:
			operands--
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// shellScript returns the script of sh -c, or -lc, -ec and the like.
func shellScript(args []string) (string, bool) {
	for j, a := range args {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "c") && j+1 < len(args) {
			return args[j+1], args[j+1] != unknown
		}
		if j > 0 && strings.HasSuffix(args[j-1], "o") && strings.HasPrefix(args[j-1], "-") {
			continue // the name of an option, as in -euo pipefail
		}
		if a == "" || a[0] != '-' && a[0] != '+' {
			return "", false
		}
	}
	return "", false
}

// interactive maps programs that need a terminal to the alternative.
var interactive = map[string]string{}

func init() {
	for instead, names := range map[string]string{
		"change files with edit_file or write_file": "vi vim vimdiff nvim view rvim gvim nano pico " +
			"rnano emacs emacsclient jed joe jmacs mcedit micro helix hx kak ed ex ne",
		"drop it: output is captured and shortened by itself": "less more most pg",
		"use ps, or check_process":                            "top htop btop atop iotop glances nmon watch",
		"run the command itself, with background for one that stays": "tmux screen byobu zellij dialog whiptail fzf " +
			"mc ranger nnn tig lazygit gitui",
		"there is no network and no person to type": "ssh telnet ftp sftp lftp mosh rlogin passwd " +
			"visudo vipw chsh chfn",
		"use git show, git diff, or edit_file on the conflict markers here": "meld kdiff3",
	} {
		for n := range strings.FieldsSeq(names) {
			interactive[n] = instead
		}
	}
}

// harmless options make an interactive program exit at once.
var harmless = []string{"--version", "--help", "--batch", "-batch", "-es", "-Es", "--headless", "--script"}

// mostSecrets limits the words that are noted, since git is asked about each.
const mostSecrets = 32

// noteSecrets notes the words that have the name of a file with secrets. The name may follow an option and =.
func (i *inspector) noteSecrets(words ...string) {
	for _, word := range words {
		name := strings.TrimPrefix(word[strings.LastIndexByte(word, '=')+1:], "@")
		if strings.ContainsAny(name, " \t\n"+unknown) {
			continue
		}
		if len(i.verdict.secrets) < mostSecrets && blocklist.IsSecretName(name) {
			i.verdict.secrets = append(i.verdict.secrets, name)
		}
	}
}

func (i *inspector) inspectProgram(name string, args []string, assigned map[string]bool) {
	if blocked, ok := blocklist.FindCommand(name, args); ok {
		i.verdict.blocked = cmp.Or(i.verdict.blocked, blocked)
	}
	i.sql = i.sql || blocklist.IsSQLClient(name)
	if instead, ok := interactive[name]; ok &&
		!slices.ContainsFunc(args, func(a string) bool { return slices.Contains(harmless, a) }) {
		i.markInteractive(name, instead)
		return
	}
	if name == "git" {
		i.inspectGit(args, assigned)
		return
	}
	if name == "crontab" && slices.Contains(args, "-e") {
		i.markInteractive("crontab -e", "pipe the table to crontab -")
		return
	}
	if s := serverprogram.DescribeServer(name, args); s != "" && i.verdict.server == "" {
		i.verdict.server = s
	}
}

func (i *inspector) markInteractive(what, instead string) {
	if i.verdict.interactive == "" {
		i.verdict.interactive = fmt.Sprintf("%s is interactive and there is no person at this terminal; %s", what, instead)
	}
}

// inspectGit marks git subcommands that ask for input.
func (i *inspector) inspectGit(args []string, assigned map[string]bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if args[0] == "-C" || args[0] == "-c" {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return
	}
	has := func(options ...string) bool {
		return slices.ContainsFunc(args[1:], func(a string) bool { return slices.Contains(options, a) })
	}
	switch args[0] {
	case "rebase":
		if has("-i", "--interactive") && !assigned["GIT_SEQUENCE_EDITOR"] && !assigned["GIT_EDITOR"] {
			i.markInteractive("git rebase -i", "set GIT_SEQUENCE_EDITOR to a command, or use git reset --soft and a new commit")
		}
	case "add", "checkout", "restore", "reset", "stash", "commit":
		// git stash show -p only shows a patch.
		shows := args[0] == "stash" && has("show", "list")
		if has("-i", "--interactive") && args[0] == "add" || has("-p", "--patch") && !shows {
			i.markInteractive("git "+args[0]+" -p", "name the paths")
		}
	case "mergetool", "difftool", "citool", "gui":
		i.markInteractive("git "+args[0], "use git diff and edit_file")
	}
}
