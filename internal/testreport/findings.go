package testreport

import (
	"strings"

	"company/internal/lazyregexp"
)

// lintFindings reads what a linter finds: path:line:column: text. A finding is
// named without its line, which moves with every change above it. Whatever is
// neither a finding nor known to be decoration makes the output one that was
// not understood.
type lintFindings struct {
	res      Results
	unparsed bool
}

var (
	findingLine  = lazyregexp.New(`^(?:vet: )?([^\s:][^:]*):\d+(?::\d+)?:\s+(.+)$`)
	decorationRE = lazyregexp.New(`^\s|^$|^# |^exit status \d+$|^Found \d+ errors?\.|^All checks passed!|^No fixes available|^\[\*\] |^go: downloading |^warning: |^\d+ issues?[.:]?$|^\* [\w-]+: \d+$`)
)

func (f *lintFindings) ReadLine(line string) {
	line = strings.TrimRight(line, " ")
	if m := findingLine.FindStringSubmatch(line); m != nil {
		f.res.AddFailure(strings.TrimPrefix(m[1], "./")+": "+m[2], "")
		return
	}
	f.unparsed = f.unparsed || !decorationRE.MatchString(line)
}

func (f *lintFindings) Finish() *Results {
	if f.unparsed {
		f.res.ParseError = "not only findings"
	}
	return &f.res
}
