package office

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// STA-17: a holder that beats keeps its office. One without a heartbeat for a minute is killed, and the office is free
// for the caller, who learns from whom it was taken.
func TestKillSilentHolder(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	holder := startHolder(t, p)
	held := FindHolder(p)
	if held == nil || held.PID != holder.Process.Pid {
		t.Fatalf("held by %+v", held)
	}
	if lock, err := KillSilentHolder(t.Context(), p, held); lock != nil || company.CodeOf(err) != company.EHeld {
		t.Fatalf("a holder that beats: %v, %v", lock, err)
	}
	if err := holder.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	silent := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(filepath.Join(p.State, beatName), silent, silent); err != nil {
		t.Fatal(err)
	}
	if silent := SilentFor(p, held); silent != 0 {
		t.Errorf("a holder that has just begun, beside the heartbeat of an earlier one, is silent for %s", silent)
	}
	held.Started = silent
	far := *held
	far.Host = "elsewhere"
	other := *held
	other.PID = os.Getpid() // it does not have the lock file open
	for name, h := range map[string]*Holder{"another machine": &far, "another process": &other} {
		if lock, err := KillSilentHolder(t.Context(), p, h); lock != nil || company.CodeOf(err) != company.EHeld {
			t.Errorf("%s: %v, %v", name, lock, err)
		}
	}
	lock, err := KillSilentHolder(t.Context(), p, held)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if over := lock.Takeover(); over == nil || over.PID != held.PID || over.Silent < 2*time.Minute {
		t.Errorf("taken over: %+v", over)
	}
	if silent := SilentFor(p, new(lock.Holder())); silent != 0 {
		t.Errorf("the new holder is silent for %s", silent)
	}
	if now := FindHolder(p); now == nil || now.PID != os.Getpid() {
		t.Errorf("held by %+v", now)
	}
}
