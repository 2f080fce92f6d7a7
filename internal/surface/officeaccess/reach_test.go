package officeaccess

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/office"
	"company/internal/office/config/configtest"
	"company/internal/present/feed"
	"company/internal/surface/terminalio"
)

// place is a repository with the variables of its user.
type place struct {
	repo string
	vars map[string]string
}

func newPlace(t *testing.T) place {
	t.Helper()
	run, err := os.MkdirTemp("", "company-run-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	home := configtest.Dir(t)
	return place{repo: configtest.Repo(t, nil), vars: map[string]string{"HOME": home, "PATH": os.Getenv("PATH"),
		"XDG_RUNTIME_DIR": run, "XDG_STATE_HOME": filepath.Join(home, "state")}}
}

// entrance is the way of a process of a version to the office. It is in the foreground, because the program of a test
// cannot be a company in the background.
func (p place) entrance(version string, flags ...string) *Entrance {
	console := &terminalio.Console{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Output: "text",
		LookupEnv: configtest.Env(p.vars)}
	console.OpenLog()
	return &Entrance{Console: console, RepoDir: p.repo, Version: version, Foreground: true, ConfigFlags: flags}
}

func (p place) paths(t *testing.T) office.Paths {
	t.Helper()
	paths, err := p.entrance("1.0.0").FindOffice()
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// background is a company in the background, as a goroutine of the test.
type background struct {
	report startReport
	ended  chan error
}

// start starts a company in the background and reads its report.
func (p place) start(t *testing.T, ctx context.Context, ent *Entrance, unused time.Duration) background {
	t.Helper()
	in, out := io.Pipe()
	b := background{ended: make(chan error, 1)}
	go func() { b.ended <- ent.RunBackground(ctx, out, unused) }()
	if err := json.NewDecoder(in).Decode(&b.report); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBackgroundEnds: a company in the background ends when it is asked to, when its process is ended, and when
// nobody has used it for a while; the office is free then. It stays while somebody follows it.
func TestBackgroundEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, p place, cancel func()){
		"asked": func(t *testing.T, p place, _ func()) {
			conn, err := p.entrance("1.0.0").Reach(t.Context(), p.paths(t))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.RequestEnd(t.Context(), api.Always); err != nil {
				t.Error(err)
			}
		},
		"ended":  func(_ *testing.T, _ place, cancel func()) { cancel() },
		"unused": func(*testing.T, place, func()) {},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			unused := time.Hour
			if name == "unused" {
				unused = time.Millisecond
			}
			b := p.start(t, ctx, p.entrance("1.0.0"), unused)
			if b.report.Problem != nil {
				t.Fatal(b.report.Problem)
			}
			end(t, p, cancel)
			if err := <-b.ended; err != nil {
				t.Error(err)
			}
			if held := office.FindHolder(p.paths(t)); held != nil {
				t.Errorf("the office is held by %+v", held)
			}
		})
	}
}

// TestFollowedBackgroundStays: a request that runs keeps the company, however long it takes.
func TestFollowedBackgroundStays(t *testing.T) {
	p := newPlace(t)
	ent := p.entrance("1.0.0")
	off, lock, err := openLocked(t.Context(), p.paths(t), false)
	if err != nil {
		t.Fatal(err)
	}
	app, err := ent.serveApp(t.Context(), off, lock, officeapp.Background)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	conn, err := ent.Reach(t.Context(), p.paths(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- conn.Follow(ctx, feed.Range{From: 1}, func(feed.Item) error { return nil }) }()
	hosttest.Eventually(t, "the office is used", func() (any, bool) { return nil, !app.IsUnused(0) })
	cancel()
	<-followed
	hosttest.Eventually(t, "the office is no longer used", func() (any, bool) { return nil, app.IsUnused(0) })
}

// TestOlderCompanyIsReplaced: a client of a newer version ends a company in the background and takes the office. One
// of an older version uses the newer company.
func TestOlderCompanyIsReplaced(t *testing.T) {
	p := newPlace(t)
	older := p.start(t, t.Context(), p.entrance("0.9.0"), time.Hour)
	newer := p.entrance("0.10.0")
	conn, err := newer.Reach(t.Context(), p.paths(t))
	if err != nil {
		t.Fatal(err)
	}
	if info := conn.Server(); info.Version != "0.10.0" || !info.Foreground || !newer.HasOffice() {
		t.Errorf("the office is that of %+v", info)
	}
	if err := <-older.ended; err != nil {
		t.Error(err)
	}
	conn.Close()
	if newer.HasOffice() {
		t.Error("the office is still open here")
	}
	now := p.start(t, t.Context(), p.entrance("0.10.0"), time.Hour)
	conn, err = p.entrance("0.9.0").Reach(t.Context(), p.paths(t))
	if err != nil || conn.Server().Version != "0.10.0" {
		t.Fatalf("%+v, %v", conn, err)
	}
	if err := conn.RequestEnd(t.Context(), api.Always); err != nil {
		t.Error(err)
	}
	conn.Close()
	if err := <-now.ended; err != nil {
		t.Error(err)
	}
}

// TestOutdated says which companies a client replaces.
func TestOutdated(t *testing.T) {
	p := newPlace(t)
	ent := p.entrance("0.10.0")
	paths := p.paths(t)
	loaded, err := ent.LoadConfig(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	same := api.ServerInfo{Version: "0.10.0", Config: loaded.Hash, Setup: ent.hashSetup(paths, loaded)}
	other := func(change func(*api.ServerInfo)) api.ServerInfo {
		info := same
		change(&info)
		return info
	}
	for name, x := range map[string]struct {
		info        api.ServerInfo
		reads, work bool // replaced by a client that reads, and by one that works
	}{
		"the same":       {same, false, false},
		"older":          {other(func(i *api.ServerInfo) { i.Version = "0.9.0" }), true, true},
		"older, at work": {other(func(i *api.ServerInfo) { i.Version, i.AtWork = "0.9.0", true }), false, true},
		"older, busy": {other(func(i *api.ServerInfo) { i.Version, i.AtWork, i.Busy = "0.9.0", true, true }),
			false, true},
		"newer, another config": {other(func(i *api.ServerInfo) { i.Version, i.Config = "0.11.0", "x" }), false, false},
		"another config, followed": {other(func(i *api.ServerInfo) { i.Config, i.Others = "x", 1 }),
			false, true},
		"newer":          {other(func(i *api.ServerInfo) { i.Version = "0.11.0" }), false, false},
		"older, serves":  {other(func(i *api.ServerInfo) { i.Version, i.Serving = "0.9.0", true }), false, false},
		"another config": {other(func(i *api.ServerInfo) { i.Config = "x" }), true, true},
		"another config, at work": {other(func(i *api.ServerInfo) { i.Config, i.AtWork = "x", true }),
			false, true},
		"another config, busy": {other(func(i *api.ServerInfo) { i.Config, i.AtWork, i.Busy = "x", true, true }),
			false, false},
		"another environment": {other(func(i *api.ServerInfo) { i.Setup = "x" }), false, true},
		"another environment, in the foreground": {
			other(func(i *api.ServerInfo) { i.Setup, i.Foreground = "x", true }), false, false},
	} {
		if reads, work := ent.isOutdated(t.Context(), paths, x.info, false),
			ent.isOutdated(t.Context(), paths, x.info, true); reads != x.reads || work != x.work {
			t.Errorf("%s: replaced for reading %v, for work %v", name, reads, work)
		}
	}
}

// TestForeignSocket: a socket at which another office answers is named, and no request goes there.
func TestForeignSocket(t *testing.T) {
	p, other := newPlace(t), newPlace(t)
	own := p.start(t, t.Context(), p.entrance("1.0.0"), time.Hour)
	foreign := other.start(t, t.Context(), other.entrance("1.0.0"), time.Hour)
	held := office.FindHolder(p.paths(t))
	held.Socket = office.FindHolder(other.paths(t)).Socket
	_, err := p.entrance("1.0.0").dialHolder(t.Context(), p.paths(t), held)
	if company.CodeOf(err) != company.EConflict || !strings.Contains(err.Error(), "another office answers at") {
		t.Errorf("%v", err)
	}
	for _, b := range []struct {
		place
		background
	}{{p, own}, {other, foreign}} {
		conn, err := b.entrance("1.0.0").Reach(t.Context(), b.paths(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.RequestEnd(t.Context(), api.Always); err != nil {
			t.Error(err)
		}
		conn.Close()
		<-b.ended
	}
}

// TestBackgroundReports: the error of a company that cannot open the office reaches the client that started it. With a
// config that does not load, the office can be read, and takes no command.
func TestBackgroundReports(t *testing.T) {
	p := newPlace(t)
	b := p.start(t, t.Context(), p.entrance("1.0.0"), time.Hour)
	second := p.start(t, t.Context(), p.entrance("1.0.0"), time.Hour)
	if err := <-second.ended; company.CodeOf(err) != company.EHeld || second.report.Problem.Code != company.EHeld {
		t.Errorf("beside another: %v, %+v", err, second.report.Problem)
	}
	conn, err := p.entrance("1.0.0").Reach(t.Context(), p.paths(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.RequestEnd(t.Context(), api.Always); err != nil {
		t.Error(err)
	}
	conn.Close()
	<-b.ended

	configtest.WriteFile(t, filepath.Join(p.vars["HOME"], ".config", "company", "config.yaml"), "workers: {max: many}\n")
	ctx, cancel := context.WithCancel(t.Context())
	b = p.start(t, ctx, p.entrance("1.0.0"), time.Hour)
	if b.report.Problem != nil {
		t.Fatalf("%+v", b.report.Problem)
	}
	conn, err = p.entrance("1.0.0").Reach(t.Context(), p.paths(t))
	if err != nil || !conn.Server().ReadOnly {
		t.Fatalf("%+v, %v", conn, err)
	}
	if _, err := conn.Overview(t.Context(), true); err != nil {
		t.Errorf("reading: %v", err)
	}
	if _, err := conn.Do(t.Context(), "", company.Stop{}); company.CodeOf(err) != company.EConfig {
		t.Errorf("a command: %v", err)
	}
	if _, err := conn.StartWork(t.Context()); company.CodeOf(err) != company.EConfig {
		t.Errorf("work: %v", err)
	}
	conn.Close()
	cancel()
	<-b.ended
}

// TestBackgroundFindsTheSameOffice: the arguments of a company in the background lead to the office of the command,
// wherever in a checkout that is.
func TestBackgroundFindsTheSameOffice(t *testing.T) {
	p := newPlace(t)
	for _, dir := range []string{"service", "inner/part"} {
		if err := os.MkdirAll(filepath.Join(p.repo, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	configtest.WriteFile(t, filepath.Join(p.repo, "service", "company.yaml"), "version: 1\n")
	for name, ent := range map[string]*Entrance{
		"the checkout":         {RepoDir: p.repo},
		"a folder in it":       {RepoDir: filepath.Join(p.repo, "inner", "part")},
		"an office inside":     {RepoDir: filepath.Join(p.repo, "service")},
		"a named office":       {OfficeDir: filepath.Join(p.repo, "service")},
		"one and a checkout":   {OfficeDir: filepath.Join(p.repo, "service"), RepoDir: p.repo},
		"the office of a link": {RepoDir: p.repo + "/./service/../service"},
	} {
		ent.Console = p.entrance("1.0.0").Console
		want, err := ent.FindOffice()
		if err != nil {
			t.Fatal(err)
		}
		options := office.FindOptions{Dir: "/", Env: ent.Console.LookupEnv}
		args := ent.backgroundArgs(want)
		for i, arg := range args {
			switch arg {
			case "--repo":
				options.Dir = args[i+1]
			case "--office":
				options.Office = args[i+1]
			}
		}
		if got, err := office.Find(options); err != nil || got.State != want.State {
			t.Errorf("%s: %v leads to %s, want %s; %v", name, args, got.State, want.State, err)
		}
	}
}

// TestEventsWhileThisProcessHadTheOffice: who follows an office looks again if the office got events while this process
// had it, and otherwise waits for another holder.
func TestEventsWhileThisProcessHadTheOffice(t *testing.T) {
	p := newPlace(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	ent := p.entrance("1.0.0")
	for _, comes := range []bool{false, true} {
		conn, err := ent.Reach(t.Context(), p.paths(t))
		if err != nil {
			t.Fatal(err)
		}
		if comes {
			start := company.StartOffice{Office: ent.own.ID(), Workers: 1}
			if _, err := ent.own.DoID(t.Context(), "", company.Company, start); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
		if err := ent.AwaitHolder(ended, p.paths(t)); (err == nil) != comes {
			t.Errorf("an event came: %v; the wait ended with %v", comes, err)
		}
		if err := ent.AwaitHolder(ended, p.paths(t)); err == nil {
			t.Error("the second wait does not wait")
		}
	}
}
