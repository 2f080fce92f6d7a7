package makefile

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A hostile Makefile costs as much memory as its text, times a bound: lines that go on,
// values in values, and recipes of many targets.
func TestHostileMakefilesAreBounded(t *testing.T) {
	var many strings.Builder
	for i := range maxTargets {
		fmt.Fprintf(&many, "t%d ", i)
	}
	for name, text := range map[string]string{
		"lines that go on":    strings.Repeat("\\\n", 100_000),
		"rules of one target": strings.Repeat("all:"+strings.Repeat("a", 100)+"\n", 10_000),
		"a value many times":  "A=" + strings.Repeat("x", 100_000) + "\nall:\n\t" + strings.Repeat("$(A)", 25_000) + "\n",
		"a value of itself":   "A=$(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)\nall:\n\t$(A)\n",
		"recipes of many targets": "A=" + strings.Repeat("x", 4000) + "\n" + many.String() + ":\n" +
			strings.Repeat("\t$(A)\n", 20_000),
		"needs of many targets": many.String() + ": " + strings.Repeat("a ", 50_000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out := readTargets("Makefile", text)
			findRules(text)
			runtime.ReadMemStats(&after)
			runs := 0
			for _, p := range out {
				runs += len(p.Runs)
				for _, r := range p.Runs {
					if len(r) > maxValue+len("make ") {
						t.Fatalf("%d bytes: %.40q", len(r), r)
					}
				}
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 1024 || runs > maxRuns {
				t.Errorf("%d MiB, %d commands", used, runs)
			}
		})
	}
	if got := joinContinued("a \\\n  b\\\r\n\tc\nd\\"); fmt.Sprint(got) != "[{a  b c 1} {d 4}]" {
		t.Errorf("%v", got)
	}
	if text := readTargets("Makefile", "A=cc\nall: x\n\t$(A) -c\n"); fmt.Sprint(text[0].Runs) != "[make x cc -c]" {
		t.Errorf("%v", text)
	}
}
