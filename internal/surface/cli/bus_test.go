package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"company/internal/office/config"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// TestBusConvert: the records of an office are taken to the other driver and read there; the
// config of before is refused with what to do, which works.
func TestBusConvert(t *testing.T) {
	vars := map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH"), config.VarForeground: "1",
		"XDG_STATE_HOME": os.Getenv("XDG_STATE_HOME")}
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
	if _, errs := run(1, "bus", "convert", "--to", "file"); !strings.Contains(errs, "E_NOT_FOUND") {
		t.Errorf("without an office: %s", errs)
	}
	newOfficeWithEvents(t, repo)
	before, _ := run(0, "feed", "-o", "json")
	if before == "" {
		t.Fatal("the office has no events")
	}
	out, errs := run(0, "bus", "convert", "--to", "file")
	if !strings.Contains(out, "went from nats to file") || !strings.Contains(errs, "company config set bus.driver file") {
		t.Errorf("converted: %s%s", out, errs)
	}
	if out, _ = run(0, "bus", "convert", "--to", "file"); !strings.Contains(out, "nothing was to be taken along") {
		t.Errorf("converted twice: %s", out)
	}
	_, errs = run(1, "status")
	if !strings.Contains(errs, "E_CONFIG") || !strings.Contains(errs, "company bus convert --to nats") {
		t.Errorf("with the driver of before: %s", errs)
	}
	run(0, "status", "--set", "bus.driver=file")
	if after, _ := run(0, "feed", "-o", "json", "--set", "bus.driver=file"); after != before {
		t.Errorf("%s\nafter\n%s", after, before)
	}
	if out, _ := run(0, "migrate"); !strings.Contains(out, "format 1, the newest: no migration is pending") {
		t.Errorf("migrated: %s", out)
	}
	run(64, "bus", "convert")
	run(64, "bus", "convert", "--to", "sqlite")
	run(0, "bus", "convert", "--to", "nats")
	run(0, "status")
}
