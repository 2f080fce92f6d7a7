package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
)

// BenchmarkAppend compares a synced compare-and-set append of one command
// with write+fsync of as many bytes, in turns in one run. The metric "ratio"
// is the speed of the append in terms of the bare write (1: as fast).
func BenchmarkAppend(b *testing.B) {
	bench := setup(b)
	l := bench.open(b)
	file, err := os.Create(filepath.Join(bench.dir, "bare"))
	must(b, err)
	defer file.Close()
	payload := make([]byte, 1000)
	event := draft("bench", "")
	event.Actor = fmt.Sprintf("%0700d", 0)
	var bare, ours time.Duration
	for n := 0; b.Loop(); n++ {
		start := time.Now()
		_, err := file.Write(payload)
		must(b, err)
		must(b, file.Sync())
		middle := time.Now()
		_, err = l.Append(bench.ctx, ledger.Command{ID: fmt.Sprint(n)}, noon, []company.Event{event})
		must(b, err)
		bare += middle.Sub(start)
		ours += time.Since(middle)
	}
	b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "bare-µs")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "append-µs")
	b.ReportMetric(float64(bare)/float64(ours), "ratio")
}

// BenchmarkOpen is a start with a ledger of many events, whole and from a
// snapshot.
func BenchmarkOpen(b *testing.B) {
	bench := setup(b)
	l := bench.open(b)
	for n := range 2000 {
		mustAppend(b, bench, l, fmt.Sprint(n), draft("x", n), draft("y", n))
	}
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			bench.open(b)
		}
	})
	must(b, l.SaveSnapshot(bench.ctx, l.Head(), writesText("")))
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			bench.open(b)
		}
	})
}
