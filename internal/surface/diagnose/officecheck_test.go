package diagnose

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/lib/healthcheck"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// Workers that do not fit into memory together are a warning, if somebody
// asked for them.
func TestCheckMemory(t *testing.T) {
	load := func(flags map[string]string) config.Loaded {
		l, err := config.Load(t.Context(), config.LoadOptions{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, x := range []struct {
		flags  map[string]string
		host   config.Size
		status string
		says   string
	}{
		{nil, 24 << 30, "pass", "24576 MiB here, 3 workers of 4g"},
		{nil, 9 << 30, "pass", "2 workers of 4g"},
		{nil, 2 << 30, "warn", "1 worker of 4g"},
		{map[string]string{"workers.max": "5"}, 9 << 30, "warn", "5 workers of 4g"},
		{nil, 0, "pass", "unknown"},
	} {
		r := checkMemory(load(x.flags), x.host)
		if got := (healthcheck.Finding{Result: r}).Label(); got != x.status || !strings.Contains(r.Found, x.says) ||
			(got == "warn") != (r.Fix != "") {
			t.Errorf("%v on %d: %+v", x.flags, x.host, r)
		}
	}
}

// openOffice makes an office in a new repository.
func openOffice(t *testing.T) (office.Paths, *office.Office) {
	t.Helper()
	p, err := office.Find(office.FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return p, off
}

// An office that is open in a process of another version is told, with what to
// do; one that does not answer is red.
func TestCheckHolder(t *testing.T) {
	p, off := openOffice(t)
	defer off.Close()
	lock, _, err := office.TryLock(p)
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	defer lock.Release()
	a := &Checker{Logger: slog.New(slog.DiscardHandler), Env: os.LookupEnv, Version: "1.0", Opener: plainOpener{}}
	found := func() healthcheck.Finding {
		out := a.checkOffice(t.Context(), Subject{Paths: p, Config: config.Loaded{Config: config.Default()}}, false)
		if len(out) != 1 {
			t.Fatalf("%+v", out)
		}
		return out[0]
	}
	if v := found(); v.Label() != "fail" || v.Needed == "" || v.Fix == "" {
		t.Errorf("a holder without a socket: %+v", v)
	}
	run, err := os.MkdirTemp("", "company-diagnose-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(run)
	l, err := office.ListenSocket(lock, func(k string) (string, bool) { return run, k == "XDG_RUNTIME_DIR" })
	if err != nil {
		t.Fatal(err)
	}
	hello := api.ServerInfo{Version: "1.0", Office: off.ID, PID: 7}
	srv := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(hello)
		})}
	ended := make(chan struct{})
	go func() { _ = srv.Serve(l); close(ended) }()
	defer func() { _ = srv.Close(); <-ended }()
	if v := found(); v.Label() != "pass" {
		t.Errorf("the same version: %+v", v)
	}
	hello.Version = "9.9.9\x1b[2J"
	if v := found(); v.Label() != "warn" || !strings.Contains(v.Found, "which is version 9.9.9") ||
		!strings.Contains(v.Needed, "1.0") || v.Fix == "" || strings.Contains(v.Found, "\x1b") {
		t.Errorf("another version: %+v", v)
	}
}

// A command that only looks has the office for a moment: that is no holder which does not answer.
func TestOfficeIsLookedAt(t *testing.T) {
	p, off := openOffice(t)
	defer off.Close()
	loaded, err := config.Load(t.Context(), config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := &Checker{Logger: slog.New(slog.DiscardHandler), Env: os.LookupEnv, Version: "1.0", Opener: plainOpener{}}
	var out []healthcheck.Finding
	for range 10 { // a machine that stands still for a second makes the moment longer than doctor waits
		lock, _, err := office.TryLock(p)
		if err != nil || lock == nil {
			t.Fatal(err)
		}
		released := make(chan error, 1)
		time.AfterFunc(200*time.Millisecond, func() { released <- lock.Release() })
		began := time.Now()
		out = a.checkOffice(t.Context(), Subject{Paths: p, Config: loaded}, false)
		took := time.Since(began)
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		if len(out) == 2 && out[0].Label() == "pass" || took < lookPatience {
			break
		}
	}
	if len(out) != 2 || out[0].Label() != "pass" || out[1].Label() != "pass" {
		t.Errorf("%+v", out)
	}
}

// A ledger that is damaged is red, and the rest of doctor goes on.
func TestCheckLedger(t *testing.T) {
	p, off := openOffice(t)
	if err := off.Close(); err != nil {
		t.Fatal(err)
	}
	a := &Checker{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv, Version: "1.0",
		Opener: plainOpener{}}
	loaded, err := config.Load(t.Context(), config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check := func() healthcheck.Finding {
		out := a.checkOffice(t.Context(), Subject{Paths: p, Config: loaded}, false)
		if len(out) != 2 || out[0].Label() != "pass" || out[1].Name != "ledger" {
			t.Fatalf("%+v", out)
		}
		return out[1]
	}
	if v := check(); v.Label() != "pass" || v.Found != "0 events, 0 tasks" {
		t.Errorf("a fresh office: %+v", v)
	}
	if v := check(); v.Label() != "pass" { // it left nothing open
		t.Errorf("again: %+v", v)
	}
	// The bus's folder is a file now: nothing opens.
	if err := os.RemoveAll(p.Bus); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Bus, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := a.checkOffice(t.Context(), Subject{Paths: p, Config: loaded}, false)
	if last := out[len(out)-1]; last.Label() != "fail" || last.Fix == "" {
		t.Errorf("a broken office: %+v", out)
	}
	if lock, _, err := office.TryLock(p); err != nil || lock == nil {
		t.Errorf("the lock is not given back: %v", err)
	} else if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.State, "office.json")); err != nil {
		t.Error(err)
	}
}

// plainOpener opens offices with nothing around them.
type plainOpener struct{}

func (plainOpener) OpenFolders(ctx context.Context, paths office.Paths) (*office.Office, error) {
	return office.Open(ctx, paths)
}

func (plainOpener) OpenOffice(
	ctx context.Context, off *office.Office, lock *office.Lock, loaded config.Loaded,
) (*officeapp.App, error) {
	return officeapp.Open(
		ctx, officeapp.Options{Office: off, Lock: lock, Config: loaded, Env: os.LookupEnv,
			Logger: slog.New(slog.DiscardHandler)})
}

// A disk that is nearly full warns, and one on which work fails in its middle is a failure (DOC-2).
func TestJudgeDisk(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		free, total uint64
		want        string
	}{{10 * gib, 4000 * gib, "pass"}, {10*gib - 1, 20 * gib, "warn"}, {2 * gib, 20 * gib, "warn"},
		{2*gib - 1, 20 * gib, "fail"}, {0, 0, "fail"}} {
		r := judgeDisk(c.free, c.total, "/office")
		if got := (healthcheck.Finding{Result: r}).Label(); got != c.want || (r.Fix == "") != r.OK {
			t.Errorf("%d bytes free: %s, want %s (%+v)", c.free, got, c.want, r)
		}
	}
}
