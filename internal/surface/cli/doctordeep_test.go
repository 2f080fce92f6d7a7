package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/test/heldoffice"
)

// company doctor --deep reads all that an office has stored, of one at rest and of one
// that another process serves, and names what is damaged with what to do.
func TestDoctorDeep(t *testing.T) {
	o := heldoffice.Open(t)
	sum := sha256.Sum256([]byte("stored"))
	h := hex.EncodeToString(sum[:])
	file := filepath.Join(o.Paths.Bus, "blobs", h[:2], h[2:])
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
		os.WriteFile(file, []byte("stored"), 0o600)); err != nil {
		t.Fatal(err)
	}
	type result struct {
		Checks []struct{ Name, Status, Found, Fix string }
	}
	look := func(flags ...string) map[string]string {
		t.Helper()
		r := o.Run(t.Context(), execute, append([]string{"doctor", "-o", "json"}, flags...)...)
		var all result
		if err := json.Unmarshal([]byte(r.Out), &all); err != nil {
			t.Fatalf("%v: %s%s", err, r.Out, r.Err)
		}
		out := map[string]string{}
		for _, c := range all.Checks {
			out[c.Name] = c.Status + ": " + c.Found + ": " + c.Fix
		}
		return out
	}
	for _, served := range []bool{true, false} {
		if served {
			o.Serve()
		} else {
			o.Close()
		}
		if got := look()["stored data"]; got != "" {
			t.Errorf("served %v: without --deep all is read: %s", served, got)
		}
		if got := look("--deep")["stored data"]; !strings.HasPrefix(got, "pass: ") ||
			!strings.Contains(got, "1 blob (1 KiB) verified, all intact") {
			t.Errorf("served %v: a store in order: %s", served, got)
		}
	}
	if err := os.WriteFile(file, []byte("Stored"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, served := range []bool{false, true} {
		if served {
			o.Reopen()
			o.Serve()
		}
		got := look("--deep")["damaged blob"]
		for _, want := range []string{"fail: E_LEDGER", h, file, "a copy of " + o.Paths.State} {
			if !strings.Contains(got, want) {
				t.Errorf("served %v: a damaged blob: %s\nwant %s", served, got, want)
			}
		}
	}
}
