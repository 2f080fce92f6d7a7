package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/office"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// TestBusCommands: the records of an office are read, taken to the other driver and
// read there; the config of before is refused with what to do, which works.
func TestBusCommands(t *testing.T) {
	vars := map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH")}
	repo := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(want int, args ...string) (out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		env := command.NewEnvironment(
			terminalio.Console{In: strings.NewReader(""), Out: &o, Err: &e,
				LookupEnv: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }})
		if code := execute(t.Context(), env, append(args, "--repo", repo)); code != want {
			t.Fatalf("company %v: exit %d\n%s%s", args, code, o.String(), e.String())
		}
		return o.String(), e.String()
	}
	if _, errs := run(1, "bus", "cat"); !strings.Contains(errs, "E_NOT_FOUND") {
		t.Errorf("without an office: %s", errs)
	}
	newOfficeWithEvents(t, repo)
	count := func(out string) (records int) {
		for line := range strings.Lines(out) {
			var r struct {
				Kind, Subject string
				JSON          struct{ Events []any }
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if r.Kind == "record" && r.Subject == "ledger" && len(r.JSON.Events) > 0 {
				records++
			}
		}
		return records
	}
	before, _ := run(0, "bus", "cat", "-o", "json")
	if count(before) == 0 {
		t.Fatalf("the embedded NATS has no records: %s", before)
	}
	out, errs := run(0, "bus", "convert", "--to", "file")
	if !strings.Contains(out, "went from nats to file") || !strings.Contains(errs, "company config set bus.driver file") {
		t.Errorf("converted: %s%s", out, errs)
	}
	if out, _ = run(0, "bus", "convert", "--to", "file"); !strings.Contains(out, "nothing was to be taken along") {
		t.Errorf("converted twice: %s", out)
	}
	if after, _ := run(0, "bus", "cat", "-o", "json"); count(after) != count(before) {
		t.Errorf("%d records after %d:\n%s", count(after), count(before), after)
	}
	if out, _ = run(0, "bus", "cat", "--subject", "ledger"); !strings.Contains(out, "00000001.wal:") ||
		!strings.Contains(out, "ledger") || strings.Contains(out, "mark") {
		t.Errorf("for people: %s", out)
	}
	_, errs = run(1, "status")
	if !strings.Contains(errs, "E_CONFIG") || !strings.Contains(errs, "company bus convert --to nats") {
		t.Errorf("with the driver of before: %s", errs)
	}
	run(0, "status", "--set", "bus.driver=file")
	run(64, "bus", "convert")
	run(64, "bus", "convert", "--to", "sqlite")
	run(0, "bus", "convert", "--to", "nats")
	run(0, "status")
}

// TestBusRepair: a damaged office says how it is repaired, and that works; a living one is left alone;
// a lost event is refused with what is left to do.
func TestBusRepair(t *testing.T) {
	vars := map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH"), "COMPANY_BUS_DRIVER": "file"}
	repo := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		var o, e bytes.Buffer
		env := command.NewEnvironment(
			terminalio.Console{In: strings.NewReader(""), Out: &o, Err: &e,
				LookupEnv: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }})
		if code := execute(t.Context(), env, append(args, "--repo", repo)); code != want {
			t.Fatalf("company %v: exit %d\n%s%s", args, code, o.String(), e.String())
		}
		return o.String() + e.String()
	}
	paths := newOfficeWithEvents(t, repo)
	run(0, "bus", "convert", "--to", "file")
	if out := run(0, "bus", "repair"); !strings.Contains(out, "nothing is damaged") {
		t.Errorf("a whole office: %s", out)
	}
	wal := filepath.Join(paths.Bus, "wal", "00000001.wal")
	whole, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	change := func(from, n int, by byte) {
		t.Helper()
		damaged := slices.Clone(whole)
		for i := range n {
			damaged[from+i] ^= by
		}
		if err := os.WriteFile(wal, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change(200, 1, 16)
	if out := run(1, "status"); !strings.Contains(out, "E_LEDGER") ||
		!strings.Contains(out, "company bus repair; where it refuses, put a copy of ") {
		t.Errorf("a damaged office: %s", out)
	}
	lock, _, err := office.TryLock(paths)
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	if out := run(3, "bus", "repair"); !strings.Contains(out, "E_HELD") {
		t.Errorf("beside a company: %s", out)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if out := run(0, "bus", "repair", "--dry-run"); !strings.Contains(
		out, "byte 200: one bit had changed; changed back") || !strings.Contains(out, "nothing was changed") {
		t.Errorf("a dry run: %s", out)
	}
	run(1, "status")
	var done struct {
		Repaired bool
		Kept     string
		Damage   []struct{ Mended bool }
	}
	if out, _, _ := strings.Cut(run(0, "bus", "repair", "-o", "json"), "\n"); json.Unmarshal([]byte(out), &done) != nil ||
		!done.Repaired || len(done.Damage) != 1 || !done.Damage[0].Mended {
		t.Errorf("repaired: %s", out)
	}
	if _, err := os.Stat(done.Kept); err != nil {
		t.Error(err)
	}
	run(0, "status")
	if whole, err = os.ReadFile(wal); err != nil {
		t.Fatal(err)
	}
	change(200, 9, 0x3c)
	out := run(1, "bus", "repair")
	if !strings.Contains(out, "error[E_LEDGER]: the ledger is not whole") ||
		!strings.Contains(out, "the ledger is damaged at event ") || !strings.Contains(out, "wal/00000001.wal, bytes ") {
		t.Errorf("an event is lost: %s", out)
	}
	_, advice, _ := strings.Cut(out, "begin anew: mv ")
	from, to, _ := strings.Cut(strings.Split(advice, " (")[0], " ")
	if err := os.Rename(from, to); err != nil {
		t.Fatalf("the advice does not work: %v\n%s", err, out)
	}
	run(0, "status")
}
