package startup

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestSettle: the start is relaxed, and a program that stays is collected as usual.
func TestSettle(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		Settle()
		return
	}
	now := func() int {
		percent := debug.SetGCPercent(usual)
		debug.SetGCPercent(percent)
		return percent
	}
	if now() != relaxed {
		t.Errorf("the start has %d", now())
	}
	Settle()
	if now() != usual {
		t.Errorf("a settled program has %d", now())
	}
}

// TestProcessorsOfAProgramThatStays: it has as many as its goroutines that wait for the disk beyond
// those of the machine, also when it settles twice; what the operator has set stays.
func TestProcessorsOfAProgramThatStays(t *testing.T) {
	if os.Getenv("COMPANY_TEST_SETTLE") != "" {
		Settle()
		Settle()
		println("processors", runtime.GOMAXPROCS(0), "by rule", processors)
		return
	}
	for _, set := range []string{"", "3"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "COMPANY_TEST_SETTLE=1", "GOMAXPROCS="+set)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var now, rule int
		if _, err := fmt.Sscanf(string(out), "processors %d by rule %d", &now, &rule); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := rule + syncing
		if set != "" {
			want = 3
		}
		if now != want {
			t.Errorf("GOMAXPROCS=%q: %d, want %d", set, now, want)
		}
	}
}
