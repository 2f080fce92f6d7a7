package nats

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// The end of a stream's newest file: a record that has changed since it was written is damage, and one that a power
// cut has torn is no record. The server, which trusts its index, would take the ledger for empty.
func TestEndOfTheLedger(t *testing.T) {
	for name, x := range map[string]struct {
		change  func(raw []byte) []byte
		refused bool
	}{
		"two bits of the data":       {func(raw []byte) []byte { raw[len(raw)-20] ^= 3; return raw }, true},
		"two bits of the checksum":   {func(raw []byte) []byte { raw[len(raw)-4] ^= 3; return raw }, true},
		"torn within the checksum":   {func(raw []byte) []byte { return raw[:len(raw)-3] }, false},
		"torn within the data":       {func(raw []byte) []byte { return raw[:len(raw)-30] }, false},
		"torn within the head":       {func(raw []byte) []byte { return append(raw, 70, 0, 0) }, false},
		"room that was never filled": {func(raw []byte) []byte { return append(raw, make([]byte, 64)...) }, false},
	} {
		dir := t.TempDir()
		b, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var last uint64
		for n := range 10 {
			if last, err = b.Log().Append(
				t.Context(), bus.Ledger, fmt.Appendf(nil, `{"n":%d,"text":"some text that is long enough"}`, n), last,
				fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, streamsDir, ledgerStream, "msgs", "1.blk")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole := len(raw)
		raw = x.change(raw)
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err = Open(t.Context(), Options{Dir: dir})
		if x.refused {
			if company.CodeOf(err) != company.ELedger {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		want := uint64(10)
		if len(raw) < whole {
			want = 9
		}
		m, err := b.Log().Last(ctx, bus.Ledger)
		if err != nil || m.Seq != want {
			t.Errorf("%s: the last record is %d, %v; want %d", name, m.Seq, err, want)
		}
		if _, err := b.Log().Append(ctx, bus.Ledger, []byte(`{}`), want, "new"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err = Open(t.Context(), Options{Dir: dir}); err != nil {
			t.Errorf("%s: once more: %v", name, err)
			continue
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
