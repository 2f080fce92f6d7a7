package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// report shows what no test noticed, and the counts of each file and kind. It
// says whether that is good enough.
func report(o options, made int, results []result) bool {
	var missed, untrue, odd []result
	for _, r := range results {
		switch equal := r.mutant.equal != ""; {
		case r.verdict == unclear:
			odd = append(odd, r)
		case equal && r.isGood():
			untrue = append(untrue, r)
		case !equal && !r.isGood():
			missed = append(missed, r)
		}
	}
	printResults(o.out, "NOT NOTICED", missed)
	printResults(o.out, "NOTICED, though a directive says that it changes nothing", untrue)
	printResults(o.out, "UNCLEAR: the tests ended without a verdict", odd)
	printCounts(o.out, "FILE", results, func(m *mutant) string { return m.file.name })
	printCounts(o.out, "KIND", results, func(m *mutant) string { return m.kind })
	percent := 100 * float64(len(missed)) / float64(len(results))
	fmt.Fprintf(o.out, "%d mutants were made, %d tried, %d not noticed: %.1f %%, at most %.1f %% may be\n", made,
		len(results), len(missed), percent, o.most)
	return percent <= o.most && len(untrue) == 0 && len(odd) == 0
}

func printResults(w io.Writer, title string, list []result) {
	if len(list) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintln(w, title)
	}
	for _, r := range list {
		m := r.mutant
		fmt.Fprintf(w, "%s:%d %s in %s", m.file.name, m.line(), m.kind, m.function())
		if r.verdict != survived {
			fmt.Fprintf(w, " (%s)", r.verdict)
		}
		if r.verdict == unclear {
			fmt.Fprintf(w, " %s of the processor, %v, %q", r.took, r.err, r.output[max(0, len(r.output)-500):])
		}
		fmt.Fprintf(w, "\n  - %s\n  + %s\n", m.before(), m.after())
	}
	fmt.Fprintln(w)
}

func printCounts(w io.Writer, title string, results []result, of func(*mutant) string) {
	rows := map[string]*[5]int{}
	for _, r := range results {
		row := rows[of(r.mutant)]
		if row == nil {
			row = new([5]int)
			rows[of(r.mutant)] = row
		}
		row[0]++
		switch {
		case r.verdict == killed:
			row[1]++
		case r.isGood():
			row[2]++
		case r.mutant.equal != "":
			row[3]++
		default:
			row[4]++
		}
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "%s\ttried\tkilled\tno end\tequal\tnot noticed\t\n", title)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, r[0], r[1], r[2], r[3], r[4])
	}
	fmt.Fprintln(tw)
	_ = tw.Flush() // what is for people, as every other line of the report
}

func listMutants(w io.Writer, all []*mutant) {
	for _, m := range all {
		fmt.Fprintf(w, "%s:%d %s in %s\n  - %s\n  + %s\n", m.file.name, m.line(), m.kind, m.function(), m.before(), m.after())
	}
	fmt.Fprintln(w, strings.Repeat("-", 20), len(all))
}
