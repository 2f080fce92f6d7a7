package makefile

import "strings"

// CannotStart says whether make gave up since a program is not there: its own exit
// code is 2 then, and the shell's stands in its last line.
func (Ecosystem) CannotStart(command string, exitCode int, output string) bool {
	return exitCode == 2 && strings.HasPrefix(command, "make ") && strings.HasSuffix(lastMakeLine(output), " Error 127")
}

// lastMakeLine is the line in which make gives up. What its commands print comes
// by another stream, and may stand after it.
func lastMakeLine(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "make: *** ") {
			last = line
		}
	}
	return last
}
