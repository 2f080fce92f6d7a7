package repomap

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// BenchmarkRead makes the map of this repository, some 155,000 lines of Go, from its git
// objects: cold, and from the cache. -bench.map prints nothing else.
func BenchmarkRead(b *testing.B) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		b.Fatal(err)
	}
	p := gitopstest.New(b, map[string]string{"a": "x\n"})
	info, err := p.Mirror.FetchBase(
		b.Context(), nil, gitops.Source{Path: filepath.Clean(strings.TrimSpace(string(out)))}, "")
	if err != nil {
		b.Fatal(err)
	}
	r, err := Read(b.Context(), p.Mirror, info.OID)
	if err != nil {
		b.Fatal(err)
	}
	if file := os.Getenv("COMPANY_BENCH_MAP"); file != "" {
		if err := os.WriteFile(file, []byte(r.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if _, err := Read(b.Context(), p.Mirror, info.OID); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(r.String())), "bytes/map")
	})
	b.Run("cached", func(b *testing.B) {
		var c Cache
		for b.Loop() {
			if _, err := c.Read(b.Context(), p.Mirror, info.OID); err != nil {
				b.Fatal(err)
			}
		}
	})
}
