package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/test/testenv"
)

// busFrame is a line of company bus cat.
type busFrame struct {
	Kind, File, Subject string
	Offset              int64
	JSON                json.RawMessage
}

func listFrames(t *testing.T, h *testenv.House) (frames []busFrame) {
	t.Helper()
	for line := range strings.Lines(h.MustRun(patience, "bus", "cat", "-o", "json").Stdout) {
		var f busFrame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		frames = append(frames, f)
	}
	return frames
}

// findRecord finds a record of a subject, counted from 0, or from the end where n is negative. The
// newest record of the log is passed over: damage there is what a power cut leaves, and no repair's matter.
func findRecord(t *testing.T, h *testenv.House, subject string, n int) busFrame {
	t.Helper()
	records := slices.DeleteFunc(listFrames(t, h), func(f busFrame) bool { return f.Kind != "record" })
	found := slices.DeleteFunc(records[:max(0, len(records)-1)], func(f busFrame) bool { return f.Subject != subject })
	if n < 0 {
		n += len(found)
	}
	if n < 0 || n >= len(found) {
		t.Fatalf("%s has %d records", subject, len(found))
	}
	return found[n]
}

// changeBytes changes bytes within the data of a record of the file bus.
func changeBytes(t *testing.T, h *testenv.House, f busFrame, n int, by byte) {
	t.Helper()
	name := filepath.Join(h.Repo, ".company/state/bus/wal", f.File)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text[int(f.Offset)+90+i] ^= by
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRepairedOffice kills a company at work, damages the log of its bus, and has it repaired: the end
// is the one of a company that nobody killed. A lost event is refused.
func TestRepairedOffice(t *testing.T) {
	t.Parallel()
	control := openTinyProject(t, triplesInShell())
	want := walkUndisturbed(t, control, tripleIt)
	for _, c := range []struct {
		name, subject string
		record, bytes int
		by            byte
		says          string
		repeated      int // model calls at the most
	}{
		{"a bit of the ledger", "ledger", 3, 1, 4, "one bit had changed; changed back", 1},
		{"a bit of the journal", "run.t1-01.1", 2, 1, 4, "one bit had changed; changed back", 1},
		{"the middle of the journal", "run.t1-01.1", 4, 5, 0x5a, "journal of t1-01.1: ", 4},
		{"the beginning of the journal", "run.t1-01.1", 0, 5, 0x5a, "the run begins anew", 5},
		{"the end of the journal", "run.t1-01.1", -1, 5, 0x5a, "the run goes on from there", 2},
		{"the ledger", "ledger", 3, 5, 0x5a, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hold := stopAt("t1-01.1", 4)
			t.Cleanup(hold.release)
			brain := triplesInShell()
			brain.stops = []*stop{hold}
			h := openTinyProject(t, brain)
			h.Env = append(h.Env, "COMPANY_BUS_DRIVER=file")
			p := h.Start("submit", tripleIt)
			hold.wait(t, p)
			p.Kill()
			hold.release()

			f := findRecord(t, h, c.subject, c.record)
			changeBytes(t, h, f, c.bytes, c.by)
			if r := h.Run(patience, "status"); r.Code == 0 || !strings.Contains(r.Stderr, "E_LEDGER") ||
				!strings.Contains(r.Stderr, "company bus repair") {
				t.Fatalf("a damaged office: %d\n%s", r.Code, r.Stderr)
			}
			if c.says == "" {
				if r := h.Run(patience, "bus", "repair"); r.Code == 0 || !strings.Contains(r.Stderr, "the ledger is not whole") ||
					!strings.Contains(r.Stderr, "the ledger is damaged at event ") {
					t.Fatalf("a lost event: %d\n%s", r.Code, r.Stderr)
				}
				changeBytes(t, h, f, c.bytes, c.by) // as it was: a refusal has changed nothing
			} else if r := h.MustRun(patience, "bus", "repair"); !strings.Contains(r.Stdout, c.says) ||
				!strings.Contains(r.Stdout, "ledger: whole") {
				t.Fatalf("repaired:\n%s", r.Stdout)
			}
			waitForSummary(t, h.Start("resume"), 0)
			checkDelivered(t, h, 1, 1, 1)
			got := outcomeOf(h)
			if got.tree != want.tree {
				t.Errorf("tree %s, without damage %s", got.tree, want.tree)
			}
			checkCallsRepeated(t, want.calls, got.calls, c.repeated)
			changesNothing(t, h)
		})
	}
}
