package service

import (
	"fmt"
	"regexp"
	"strings"

	"company/internal/lazyregexp"
)

// refusedRE is a client's message that nothing serves at a port.
var refusedRE = lazyregexp.New(`(?i)(connection refused|ECONNREFUSED|can't connect to|could not connect|connection to server at .* failed: (network is unreachable|no route))`)

// ExplainOutput is the text behind the output of a check that failed: which service it
// looked for where none was started, and the line that has it started.
func ExplainOutput(output string) string {
	for line := range strings.Lines(output) {
		if !refusedRE.MatchString(line) {
			continue
		}
		for _, s := range servers {
			if Ended(output) == s.name {
				continue // it was started
			}
			if regexp.MustCompile(fmt.Sprintf(`\b%d\b`, s.port)).MatchString(line) {
				return fmt.Sprintf("\n[nothing serves at port %d in here; gates.services: [%s] starts %s beside checks and workers]\n", s.port, s.name, s.title)
			}
		}
	}
	return ""
}
