package officeaccess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/lib/healthcheck"
	"company/internal/office"
	"company/internal/surface/diagnose"
)

// findOffice returns what doctor finds of the office and its ledger, by name.
func findOffice(t *testing.T, ent *Entrance) map[string]healthcheck.Finding {
	t.Helper()
	out := map[string]healthcheck.Finding{}
	for _, finding := range ent.FindFaults(t.Context(), diagnose.Options{}) {
		if finding.Name == "office" || finding.Name == "ledger" {
			out[finding.Name] = finding
		}
	}
	return out
}

// TestDoctorOfOffice: doctor connects to the office, and tells where it is, what it holds, and of a process of another
// version. What does not open is red, and nothing is left open.
func TestDoctorOfOffice(t *testing.T) {
	p := newPlace(t)
	ent := p.entrance("1.0.0")
	if v := findOffice(t, ent)["office"]; v.Label() != "pass" || !strings.Contains(v.Found, "not created yet") {
		t.Errorf("no office: %+v", v)
	}
	off, err := office.Open(t.Context(), p.paths(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := off.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first one leaves nothing open
		found := findOffice(t, ent)
		if v := found["office"]; v.Label() != "pass" || !strings.Contains(v.Found, ", state in "+p.paths(t).State) {
			t.Errorf("the office: %+v", v)
		}
		if v := found["ledger"]; v.Label() != "pass" || v.Found != "0 events, 0 tasks" {
			t.Errorf("the ledger: %+v", v)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	newer := p.start(t, ctx, p.entrance("1.1.0"), time.Hour)
	if v := findOffice(t, ent)["office"]; v.Label() != "warn" || !strings.Contains(v.Found, "which is version 1.1.0") ||
		v.Fix == "" {
		t.Errorf("a newer company: %+v", v)
	}
	cancel()
	if err := <-newer.ended; err != nil {
		t.Error(err)
	}

	lock, _, err := office.TryLock(p.paths(t))
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	if v := findOffice(t, ent)["office"]; v.Label() != "fail" || v.Fix == "" {
		t.Errorf("a process that does not answer: %+v", v)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}

	bus := p.paths(t).Bus // a file now: nothing opens
	if err := errors.Join(os.RemoveAll(bus), os.WriteFile(bus, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	failed := false
	for _, v := range findOffice(t, ent) {
		failed = failed || v.Label() == "fail" && v.Fix != ""
	}
	if !failed {
		t.Error("a broken office is not told")
	}
	if held := office.FindHolder(p.paths(t)); held != nil {
		t.Errorf("the lock is not given back: %+v", held)
	}
	if _, err := os.Stat(filepath.Join(p.paths(t).State, "office.json")); err != nil {
		t.Error(err)
	}
}
