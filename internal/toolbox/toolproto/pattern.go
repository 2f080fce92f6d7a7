package toolproto

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// The time of a match is proportional to the text and to the size of the pattern. A match cannot be interrupted, so
// both are limited in advance.
const (
	maxPattern      = 4 << 10 // bytes of a pattern
	maxInstructions = 1000    // instructions of the compiled program; (.?){1000} has 2,000
	maxLineCost     = 1 << 27 // instructions times bytes of a line: some seconds at worst
)

// Pattern is a regular expression (RE2) from an agent.
type Pattern struct {
	re           *regexp.Regexp
	instructions int
}

// CompilePattern compiles a pattern. The error describes the fault, or reports that the pattern is too large.
func CompilePattern(text string) (Pattern, error) {
	if len(text) > maxPattern {
		return Pattern{}, fmt.Errorf("the pattern has %d bytes, %d are allowed; use a shorter one", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern is not a regular expression (RE2): %w; quote literal text with \\Q…\\E", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return Pattern{}, err
	}
	if len(program.Inst) > maxInstructions {
		return Pattern{}, errors.New("the pattern is too large, repetitions counted; use fewer or smaller repetitions, or " +
			"several searches")
	}
	re, err := regexp.Compile(text)
	return Pattern{re, len(program.Inst)}, err
}

// Match reports whether the pattern matches in a line. It returns an error for a line that would take too long.
func (p Pattern) Match(line []byte) (bool, error) {
	if len(line) > maxLineCost/p.instructions {
		return false, fmt.Errorf("a line of %d bytes is too long for this pattern; use a smaller pattern, or a glob "+
			"without the file", len(line))
	}
	return p.re.Match(line), nil
}
