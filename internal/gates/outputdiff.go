package gates

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// Limits for the difference of two outputs that the president sees.
const (
	maxDiffLines = 40
	maxDiffBytes = 3000 // bytes
)

// newOutputLines returns the lines of a red check's output that the base's output lacks, ignoring varying numbers. If
// the full outputs were not stored, it compares the stored parts.
func (r *Runner) newOutputLines(ctx context.Context, now, base company.GateCheck) (string, error) {
	text := func(gateCheck company.GateCheck) (string, error) {
		if gateCheck.Log == "" || r.Blobs == nil {
			return gateCheck.Output, nil
		}
		b, err := r.Blobs.GetBlob(ctx, gateCheck.Log)
		if err != nil {
			return "", fmt.Errorf("read the output of %s: %w", gateCheck.Name, err)
		}
		return validUTF8(safetext.ShowScreen(string(b))), nil
	}
	was, err := text(base)
	if err != nil {
		return "", err
	}
	is, err := text(now)
	if err != nil {
		return "", err
	}
	return diffLines(is, was), nil
}

// diffLines lists the lines of one text that another lacks or has less often.
func diffLines(is, was string) string {
	had := map[string]int{}
	for line := range strings.Lines(was) {
		had[normalizeLine(line)]++
	}
	var out strings.Builder
	shown, more := 0, 0
	for line := range strings.Lines(is) {
		s := normalizeLine(line)
		if s == "" {
			continue
		}
		if had[s]--; had[s] >= 0 {
			continue
		}
		// The same difference must lead to the same question, so the normalized line is shown, without the parts that
		// change with every run.
		if shown == maxDiffLines || out.Len()+len(s) > maxDiffBytes {
			more++
			continue
		}
		out.WriteString(s + "\n")
		shown++
	}
	if more > 0 {
		fmt.Fprintf(&out, "[… %d more lines]\n", more)
	}
	return out.String()
}

var (
	durationRE = lazyregexp.New(
		`\d+(\.\d+)?\s?(ns|µs|us|ms|s|m|sec|secs|seconds)\b|0x[0-9a-f]+|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*`)
	positionRE = lazyregexp.New(`:\d+(:\d+)?\b`)
)

// normalizeLine returns a line without the parts that vary between runs: durations, addresses, times and line
// numbers.
func normalizeLine(line string) string {
	s := testreport.CleanName(line, 300)
	s = durationRE.ReplaceAllString(s, "#")
	return positionRE.ReplaceAllString(s, ":#")
}
