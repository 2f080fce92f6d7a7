package toolserver

import (
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// X43: with a list of programs (S0 allowedCommands), a command of an agent starts no others that it names.
func TestOnlyAllowedProgramsStart(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	allowed := []string{"ls", "cat", "touch"}
	for _, command := range []string{
		"ls", "cd sub && ls b.txt | cat", `for f in *; do touch "$f"; done`, "timeout 5 ls",
		"sh -c 'ls; cat /dev/null'",
		"list() { ls; }; list", "export A=b; test -n $A && [ -d sub ]", "/bin/ls", "env A=b ls", "command -v grep",
		"trap 'touch left' EXIT; true", "command ls", `eval "ls sub"`, `env A="$HOME/x" B=$PWD ls`, "trap - EXIT",
		"trap EXIT",
		"bash -euo pipefail -c 'ls'", `d=sub; bash -c "cd $d && ls"`, `t=x; trap "touch $t" EXIT`, `env -S "ls sub"`,
		"history",
		"while read -r l; do echo $l; done <<<x", "[[ -d sub ]] && (( 1 + 1 ))", "! time ls missing",
		"exec 3>&1; ls >&3",
	} {
		if _, err := b.Run(t.Context(), toolproto.RunRequest{Command: command, ByAgent: true,
			Programs: allowed}); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	for command, program := range map[string]string{
		"touch refused; grep -rn x .": "grep", "ls $(touch refused; grep -l x)": "grep",
		"touch refused; sh -c 'ls; grep x'": "grep",
		"touch refused; $X":                 "names of programs out", "touch refused; timeout 5 grep x": "grep",
		"touch refused; bash build.sh":            "bash",
		"touch refused; find . -exec grep x {} +": "find", "touch refused; . ./build.sh": "source",
		"touch refused; sub/test x": "test", "grep() { command grep x; }; touch refused; grep": "grep",
		"touch refused; npx ls":                "npx",
		"touch refused; trap -- 'grep x' EXIT": "grep", "touch refused; A=b/$X; ${A}ls": "names of programs out",
		"touch refused; if": "names of programs out",
		"touch refused; " + strings.Repeat("nice ", 20) + "ls": "names of programs out",
		`touch refused; eval "$X"`:                             "names of programs out",
		"trap 'grep x' EXIT; touch refused":                    "grep", "touch refused; ./grep x": "grep",
		"touch refused; sh": "sh",
	} {
		_, err := b.Run(t.Context(), toolproto.RunRequest{Command: command, ByAgent: true, Programs: allowed})
		if err == nil {
			t.Errorf("%s is run", command)
			continue
		}
		requireRefusal(t, err, toolproto.KindNotAllowed, "command_not_in_allowlist: ")
		if !strings.Contains(err.Error(), program+";") || !strings.HasSuffix(err.Error(), "ls, cat, touch") {
			t.Errorf("%s: %v", command, err)
		}
	}
	r := b.run(t, toolproto.RunRequest{Command: "ls refused"})
	if r.ExitCode == 0 {
		t.Error("a refused command began")
	}
}
