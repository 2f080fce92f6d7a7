package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// A ledger that was cut short or changed is an error that says what to do, of
// every command; and what it says works.
func TestDamagedLedger(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, p office.Paths){
		"cut short": func(t *testing.T, p office.Paths) {
			block := ledgerFile(t, p)
			info, err := os.Stat(block)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(block, info.Size()/2); err != nil {
				t.Fatal(err)
			}
		},
		"a byte changed": func(t *testing.T, p office.Paths) {
			block := ledgerFile(t, p)
			text, err := os.ReadFile(block)
			if err != nil {
				t.Fatal(err)
			}
			text[len(text)/2] ^= 1
			if err := os.WriteFile(block, text, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a foreign record": func(t *testing.T, p office.Paths) {
			b, err := nats.Open(t.Context(), nats.Options{Dir: p.Bus})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			last, err := b.Log().Last(t.Context(), "ledger")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Log().Append(t.Context(), "ledger", []byte(`{"events":[]}`), last.Seq, "x"); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, p office.Paths) {
			block := ledgerFile(t, p)
			if err := os.Truncate(block, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH"), config.VarForeground: "1",
				"XDG_STATE_HOME": os.Getenv("XDG_STATE_HOME")}
			repo := t.TempDir()
			if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			command := func(args ...string) (int, string) {
				var out, errs bytes.Buffer
				env := command.NewEnvironment(
					terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &errs,
						LookupEnv: func(k string) (string, bool) { v, ok := env[k]; return v, ok }})
				code := execute(t.Context(), env, append(args, "--repo", repo))
				return code, out.String() + errs.String()
			}
			paths := newOfficeWithEvents(t, repo)
			damage(t, paths)
			for _, args := range [][]string{{"status"}, {"stop"}, {"feed", "t1"}, {"hire", "1"}} {
				code, text := command(args...)
				if code != 1 || !strings.Contains(text, "E_LEDGER") || strings.Contains(text, "company restore") {
					t.Fatalf("company %s: exit %d\n%s", args[0], code, text)
				}
			}
			_, text := command("status")
			_, advice, ok := strings.Cut(text, "mv ")
			from, to, _ := strings.Cut(strings.Split(advice, " (")[0], " ")
			if !ok || from == "" || to == "" {
				// A snapshot that knows more than the ledger is the other way out.
				_, advice, ok = strings.Cut(text, "delete ")
				file, _, _ := strings.Cut(advice, " to go on")
				if !ok || os.Remove(file) != nil {
					t.Fatalf("no advice that can be followed:\n%s", text)
				}
			} else if err := os.Rename(from, to); err != nil {
				t.Fatalf("the advice does not work: %v\n%s", err, text)
			}
			if code, text := command("status"); code != 0 {
				t.Fatalf("after the advice: exit %d\n%s", code, text)
			}
		})
	}
}

// ledgerFile is the file of the ledger's records.
func ledgerFile(t *testing.T, p office.Paths) string {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(p.Bus, "jetstream/*/streams/LEDGER/msgs/*.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatalf("the ledger's blocks: %v %v", blocks, err)
	}
	return blocks[0]
}

// newOfficeWithEvents makes the office of a checkout, with a few events.
func newOfficeWithEvents(t *testing.T, repo string) office.Paths {
	t.Helper()
	paths, err := office.Find(office.FindOptions{Dir: repo, Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	b, err := nats.Open(t.Context(), nats.Options{Folder: off.BusFolder})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	l, err := ledger.Open(t.Context(), b, ledger.Options{Folder: off.StateFolder})
	if err != nil {
		t.Fatal(err)
	}
	o, err := orchestrator.Open(t.Context(), orchestrator.Config{Ledger: l, Office: off.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []company.Command{company.StartOffice{Office: off.ID},
		company.Submit{Instruction: "the first instruction", Project: company.Project{ID: "p", Path: repo}},
		company.Cancel{Task: "t1"}} {
		if _, err := o.Do(t.Context(), company.President, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SaveSnapshot(t.Context(), l.Head(),
		func(w io.Writer) error { _, err := io.WriteString(w, "{}"); return err }); err != nil {
		// as a company does at its end
		t.Fatal(err)
	}
	return off.Paths
}
