package e2e

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedOffice kills a company at work and changes a record of its bus. Every command that opens the office
// refuses by the file and the byte. With a copy put back the work goes on, and ends as that of a company that nobody
// killed.
func TestDamagedOffice(t *testing.T) {
	t.Parallel()
	control := openTinyProject(t, triplesInShell())
	want := walkUndisturbed(t, control, tripleIt)
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

	state := h.State()
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(state)); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"ledger", "run.t1-01.1"} {
		found, err := filepath.Glob(filepath.Join(state, "bus/log", subject+"-*.log"))
		if err != nil || len(found) != 1 {
			t.Fatalf("the files of %s are %v, %v", subject, found, err)
		}
		name := found[0]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text[50] ^= 4 // of the first record
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][]string{{"status"}, {"resume"}, {"bus", "convert", "--to", "nats"}} {
			r := h.Run(patience, command...)
			if r.Code == 0 || !strings.Contains(r.Stderr, "E_LEDGER") ||
				!strings.Contains(r.Stderr, "log/"+filepath.Base(name)+", byte ") ||
				!strings.Contains(r.Stderr, "put a copy of ") {
				t.Fatalf("%s of %s damaged: %d\n%s", command, subject, r.Code, r.Stderr)
			}
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
			t.Fatalf("the damaged log was changed: %v", err)
		}
		if err := errors.Join(os.RemoveAll(state), os.CopyFS(state, os.DirFS(copied))); err != nil {
			t.Fatal(err)
		}
	}
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	got := outcomeOf(h)
	if got.tree != want.tree {
		t.Errorf("tree %s, without damage %s", got.tree, want.tree)
	}
	checkCallsRepeated(t, want.calls, got.calls, 1)
	changesNothing(t, h)
}
