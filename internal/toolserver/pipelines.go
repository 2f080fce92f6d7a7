package toolserver

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/boundedparse/bash"
)

// A pipeline's exit code is that of its last part, so `go test | tail` hides
// red tests. Bash knows the others; what it knows is kept for the answer.

const (
	maxPipes     = 5       // pipelines that an answer tells of
	maxPipesFile = 4 << 10 // bytes that are read of what bash wrote
)

// hasPipelines reports whether a script has a pipeline whose parts bash can tell
// of without being in a script's way: one that traces itself, or has traps of
// its own, is left alone.
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
					own = own || strings.HasPrefix(wordText(w), "-") && strings.ContainsAny(wordText(w), "xT") || wordText(w) == "xtrace" || wordText(w) == "functrace"
				}
			}
		}
		return true
	})
	return found && !own
}

// withExitCodeTrace puts before a script what writes down, in a file, the exit codes of
// each pipeline in which a part other than the last failed. It stands on the
// script's first line, so that bash counts the same lines. Bash restores $? and
// PIPESTATUS after a trap.
func withExitCodeTrace(script, file string) string {
	return `__company_pipes() { [[ "${*:1:$#-1}" != *[1-9]* || "$*" == "${__company_last-}" ]] || { __company_last="$*"; printf '%s\n' "$*" >> '` + file + `'; }; }; ` +
		`trap '[[ ${PIPESTATUS[1]+x} && ${__company_ps:=${PIPESTATUS[*]}} ]] && { __company_pipes $__company_ps; unset __company_ps; }' DEBUG EXIT; ` + script
}

// readExitCodes reads the exit codes that bash recorded, and removes the file.
// Any process may have written to it: other lines are dropped. A part that
// ended because its reader had closed has not failed.
func readExitCodes(file string) [][]int {
	// Not a pipe without a writer, and not a file behind a link.
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
	n, _ := f.Read(text) // an error leaves nothing to tell
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

// brokenPipe is the exit code of a program that SIGPIPE ended: head had enough.
const brokenPipe = 128 + 13
