package office

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// CFG-4: bus.path has the ledger in a folder of its own on another disk, where every later Open finds it. Records are
// never left behind for an empty ledger, whatever the config says and whatever is mounted.
func TestBusFolder(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	p := mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv})
	records := map[string]string{"file": "log"}
	disk := t.TempDir()
	own := filepath.Join(disk, filepath.Base(p.State))
	settle := func(path string) (at string, err error) {
		t.Helper()
		off, err := Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer off.Close()
		if err := off.SettleBusFolder(path, records); err != nil {
			return "", err
		}
		if err := off.SettleBusDriver("file", records); err != nil {
			return "", err
		}
		return off.Bus, nil
	}
	refused := func(when, path, says string) {
		t.Helper()
		if _, err := settle(path); company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", when, err, says)
		}
	}
	expect := func(when, path, want string) {
		t.Helper()
		if at, err := settle(path); err != nil || at != want {
			t.Errorf("%s: %s, %v; want %s", when, at, err, want)
		}
	}
	refused("in the checkout", repo, "is in the checkout")
	refused("in the state folder", filepath.Dir(p.State), "is in the office's state folder")
	expect("a new office", disk, own)
	configtest.WriteFile(t, filepath.Join(own, "log", "1"), "a record")
	expect("the second time", disk, own)
	refused("without the key", "", "is in "+own)
	refused("another folder", t.TempDir(), "is in "+own)
	away := disk + ".away"
	if err := os.Rename(disk, away); err != nil {
		t.Fatal(err)
	}
	refused("the disk is not mounted", disk, "cannot open the folder of the ledger: "+own)
	refused("nor is it without the key", "", "cannot open the folder of the ledger: "+own)
	expect("moved by a person", away, filepath.Join(away, filepath.Base(p.State)))
	standard := filepath.Join(p.State, "bus")
	_, err := settle("")
	var fault *company.Error
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	_, move, _ := strings.Cut(fault.Hint, "move the folder: ")
	if out, err := exec.Command("sh", "-c", move).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", move, err, out)
	}
	expect("moved back", "", standard)
	_ = os.RemoveAll(away)
}
