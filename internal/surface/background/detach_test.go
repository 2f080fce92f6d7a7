package background

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office"
	"company/internal/office/config/configtest"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// lockOffice makes an office whose lock this test has, and the way there.
func lockOffice(t *testing.T) (*officeaccess.Entrance, office.Paths, *office.Lock) {
	t.Helper()
	paths, err := office.Find(office.FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = off.Close() })
	lock, _, err := office.TryLock(paths)
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	return &officeaccess.Entrance{
		Console: &terminalio.Console{In: nil, Out: io.Discard, Err: io.Discard, LookupEnv: os.LookupEnv,
			Environ: os.Environ()}, OfficeDir: paths.Root}, paths, lock
}

// TestSubmitBesideAReader: a command that reads the office has its lock for a moment, and
// takes no submission: a company is started once the lock is free.
func TestSubmitBesideAReader(t *testing.T) {
	ent, paths, lock := lockOffice(t)
	released := make(chan error, 1)
	go func() {
		time.Sleep(200 * time.Millisecond)
		released <- lock.Release()
	}()
	// The company is this test's program, which runs no test and ends.
	_, err := Submit(t.Context(), ent, paths,
		Submission{Args: []string{"-test.run=^$"}, Instruction: "say goodbye",
			Command: company.Submit{Instruction: "say goodbye"}, ID: "c-1"})
	if company.CodeOf(err) != company.EInternal || !strings.Contains(err.Error(), "exited immediately") {
		t.Errorf("no company was started: %v", err)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
}
