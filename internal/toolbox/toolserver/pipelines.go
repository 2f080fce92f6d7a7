package toolserver

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/boundedparse/bash"
)

// A pipeline's exit code is that of its last part, so `go test | tail` hides failed tests. Bash knows the other codes,
// so they are recorded for the result.

const (
	maxPipes     = 5       // pipelines in a result
	maxPipesFile = 4 << 10 // limit for the bytes read of bash's record
)

// hasPipelines reports whether a script has a pipeline whose exit codes can be recorded. It returns false for scripts
// that trace themselves or set traps, because the recording could interfere.
func hasPipelines(script string) bool {
	file, err := bash.Parse(script)
	if err != nil {
		return false
	}
	found, own := false, false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			found = found || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			switch wordText(n.Args[0]) {
			case "trap", "shopt":
				own = true
			case "set":
				for _, w := range n.Args[1:] {
					own = own || strings.HasPrefix(wordText(w), "-") && strings.ContainsAny(wordText(w), "xT") ||
						wordText(w) == "xtrace" || wordText(w) == "functrace"
				}
			}
		}
		return true
	})
	return found && !own
}

// withExitCodeTrace adds code in front of a script that records the exit codes of pipelines in a file, if a part other
// than the last failed. It is on the script's first line, so that bash's line numbers stay the same. Bash restores $?
// and PIPESTATUS after a trap.
func withExitCodeTrace(script, file string) string {
	return `__company_pipes() { [[ "${*:1:$#-1}" != *[1-9]* || "$*" == "${__company_last-}" ]] || { __company_last="$*"; printf '%s\n' "$*" >> '` + file + `'; }; }; ` +
		`trap '[[ ${PIPESTATUS[1]+x} && ${__company_ps:=${PIPESTATUS[*]}} ]] && { __company_pipes $__company_ps; unset __company_ps; }' DEBUG EXIT; ` + script
}

// readExitCodes reads the exit codes that bash recorded, and removes the file. Any process may have written to the
// file, so other lines are ignored. A part that ended because its reader closed the pipe did not fail.
func readExitCodes(file string) [][]int {
	// Neither block on a pipe nor follow a link.
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer os.Remove(file)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text := make([]byte, maxPipesFile)
	n, _ := f.Read(text) // on error there is no text
	var out [][]int
	for line := range strings.Lines(string(text[:n])) {
		codes, hidden := []int(nil), false
		for word := range strings.FieldsSeq(line) {
			code, err := strconv.Atoi(word)
			if err != nil || code < 0 || code > 255 || len(codes) == 64 {
				codes = nil
				break
			}
			codes = append(codes, code)
		}
		for i, code := range codes {
			hidden = hidden || i < len(codes)-1 && code != 0 && code != brokenPipe && code != codes[len(codes)-1]
		}
		if hidden && len(out) < maxPipes {
			out = append(out, codes)
		}
	}
	return out
}

// brokenPipe is the exit code of a program ended by SIGPIPE, for example because head had read enough.
const brokenPipe = 128 + 13
