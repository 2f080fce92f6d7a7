package gates

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// How much of a difference of two outputs is shown to the president.
const (
	maxDiffLines = 40
	maxDiffBytes = 3000 // bytes
)

// newOutputLines are the lines of a red check's output that the base's has not,
// whatever numbers are in them. Where the whole outputs are not kept, the kept
// parts are compared.
func (r *Runner) newOutputLines(ctx context.Context, now, base company.GateCheck) (string, error) {
	text := func(c company.GateCheck) (string, error) {
		if c.Log == "" || r.Blobs == nil {
			return c.Output, nil
		}
		b, err := r.Blobs.GetBlob(ctx, c.Log)
		if err != nil {
			return "", fmt.Errorf("read the output of %s: %w", c.Name, err)
		}
		return validUTF8(b), nil
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

// diffLines lists the lines of one text that another has not, or not as often.
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
		// The question is the same where the difference is: so the shape is
		// shown, and not what changes with every run.
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
	durationRE = lazyregexp.New(`\d+(\.\d+)?\s?(ns|µs|us|ms|s|m|sec|secs|seconds)\b|0x[0-9a-f]+|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*`)
	positionRE = lazyregexp.New(`:\d+(:\d+)?\b`)
)

// normalizeLine is a line without what moves from run to run: how long something took,
// addresses, times, and the line that it stands in.
func normalizeLine(line string) string {
	s := testreport.CleanName(line, 300)
	s = durationRE.ReplaceAllString(s, "#")
	return positionRE.ReplaceAllString(s, ":#")
}
