package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	linesShown   = 30
	slowestShown = 20
)

// command runs a command of a phase, prints what it says, and returns how it failed or nil.
func (r *run) command(ctx context.Context, words []string) *failure {
	start := time.Now()
	var output strings.Builder
	cmd := command(ctx, words[0], words[1:]...)
	cmd.Stdout = io.MultiWriter(&output, r.print)
	cmd.Stderr = cmd.Stdout
	cmd.Env = os.Environ()
	if err := cmd.Run(); err != nil {
		said := lines(output.String())
		return &failure{what: strings.Join(words, " "), place: firstPlace(said), took: time.Since(start),
			output: append(said, err.Error()), repeat: quoteWords(words)}
	}
	return nil
}

func quoteWords(words []string) string {
	var quoted []string
	for _, word := range words {
		if strings.ContainsAny(word, " $'\"") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted = append(quoted, word)
	}
	return strings.Join(quoted, " ")
}

func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// show prints a failure with at most the last n lines of its output, and how to repeat it.
func (f failure) show(to io.Writer, word string, n int) {
	fmt.Fprintf(to, "%s %s (%s) %s\n", word, f.what, f.place, round(f.took))
	for _, line := range f.output[max(0, len(f.output)-n):] {
		fmt.Fprintf(to, "    %s\n", strings.TrimRight(line, " "))
	}
	fmt.Fprintf(to, "    again: %s\n", f.repeat)
}

// summarize prints the last block of a run: what failed, what each phase cost, the slowest tests.
func (r *run) summarize(to io.Writer, chosen []phase) {
	fmt.Fprintf(to, "\n======== summary\n")
	for _, result := range r.results {
		for _, f := range result.flaky {
			f.show(to, "FLAKY", linesShown)
		}
	}
	for _, result := range r.results {
		for _, f := range result.failures {
			f.show(to, "FAILED", linesShown)
		}
	}
	fmt.Fprintf(to, "\n%-8s %9s %9s %7s %7s\n", "phase", "wall", "cpu", "tests", "failed")
	var total result
	var slowest []timedTest
	failed := 0
	for _, result := range r.results {
		fmt.Fprintf(to, "%-8s %9s %9s %7d %7d\n", result.name, round(result.wall), round(result.processor), result.tests,
			len(result.failures))
		total.wall, total.processor = total.wall+result.wall, total.processor+result.processor
		total.tests, failed = total.tests+result.tests, failed+len(result.failures)
		slowest = append(slowest, result.slowest...)
	}
	fmt.Fprintf(to, "%-8s %9s %9s %7d %7d\n", "all", round(total.wall), round(total.processor), total.tests, failed)
	for _, p := range chosen[len(r.results):] {
		fmt.Fprintf(to, "%-8s not run\n", p.name)
	}
	slices.SortStableFunc(slowest, func(a, b timedTest) int { return int(b.took - a.took) })
	fmt.Fprintf(to, "\nslowest tests\n")
	for _, t := range slowest[:min(slowestShown, len(slowest))] {
		fmt.Fprintf(to, "%9s %s %s\n", round(t.took), dirOf(t.pkg), t.test)
	}
	fmt.Fprintf(to, "\n%d passed, %d failed\n", total.tests, failed)
}
