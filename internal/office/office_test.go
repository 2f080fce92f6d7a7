package office

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
	"company/test/goroutines"
)

// TestMain lets this binary stand in for a second process of the office.
func TestMain(m *testing.M) {
	if dir := os.Getenv("OFFICE_TEST_HOLD"); dir != "" {
		os.Exit(holdOffice(dir))
	}
	goroutines.Main(m)
}

// holdOffice takes the office's lock, opens its socket, says so, and stays
// until it is killed or its input ends.
func holdOffice(dir string) int {
	p, err := Find(FindOptions{Dir: dir, Env: os.LookupEnv})
	if err != nil {
		fmt.Println("find:", err)
		return 1
	}
	l, held, err := TryLock(p)
	if err != nil || held != nil {
		fmt.Println("lock:", held, err)
		return 1
	}
	ln, err := ListenSocket(l, os.LookupEnv)
	if err != nil {
		fmt.Println("listen:", err)
		return 1
	}
	fmt.Println("holding")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // any end of input will do
	if err := errors.Join(ln.Close(), l.Release()); err != nil {
		fmt.Println("release:", err)
		return 1
	}
	return 0
}

func mustFind(t testing.TB, o FindOptions) Paths {
	t.Helper()
	p, err := Find(o)
	if err != nil {
		t.Fatalf("Find(%+v): %v", o, err)
	}
	return p
}

func mustOpen(t testing.TB, p Paths) *Office {
	t.Helper()
	o, err := Open(t.Context(), p)
	if err != nil {
		t.Fatalf("Open(t.Context(), %s): %v", p.Root, err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// Zero config: the office is made inside the checkout one stands in, and the
// checkout does not show it.
func TestZeroConfig(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{"a/b/c.go": "package b\n"})
	p := mustFind(t, FindOptions{Dir: filepath.Join(repo, "a", "b"), Env: os.LookupEnv})
	if p.Root != filepath.Join(repo, ".company") || p.Repo != repo {
		t.Fatalf("found %+v", p)
	}
	if _, err := os.Lstat(p.Root); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("Find made something")
	}
	o := mustOpen(t, p)
	for _, d := range []string{p.State, p.Bus, p.Git, p.Cache, p.Logs, p.Runs, p.Backlog} {
		info, err := os.Lstat(d)
		if isOutside := !strings.HasPrefix(d, repo+"/"); err != nil || info.Mode().Perm() != 0o700 ||
			isOutside != strings.HasPrefix(d, p.State) {
			t.Errorf("%s: %v %v", d, info, err)
		}
	}
	if info, err := o.StateFolder.Lstat("office.json"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("office.json: %v %v", info, err)
	}
	if !idRE.MatchString(o.ID) {
		t.Errorf("id %q", o.ID)
	}
	if out := configtest.Git(t, repo, "status", "--porcelain"); out != "" {
		t.Errorf("the checkout shows %q", out)
	}
	again := mustOpen(t, mustFind(t, FindOptions{Dir: p.Runs, Env: os.LookupEnv}))
	if again.ID != o.ID || again.Root != o.Root {
		t.Errorf("opened again: %s in %s", again.ID, again.Root)
	}
}

// A folder with company.yaml is an office: the nearest, unless one is named (CFG-5).
func TestFind(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{"company.yaml": "version: 1\n", "sub/x.go": "package x\n"})
	p := mustFind(t, FindOptions{Dir: filepath.Join(repo, "sub"), Env: os.LookupEnv})
	if p.Root != repo || p.Config != filepath.Join(repo, "company.yaml") ||
		strings.HasPrefix(p.State, repo) || p.Runs != filepath.Join(repo, ".company", "runtime", "runs") {
		t.Fatalf("found %+v", p)
	}
	mustOpen(t, p)
	if out := configtest.Git(t, repo, "status", "--porcelain"); out != "" {
		t.Errorf("the checkout shows %q", out)
	}

	other := configtest.Dir(t)
	configtest.WriteFile(t, filepath.Join(other, "company.yaml"), "version: 1\n")
	if p := mustFind(t, FindOptions{Dir: repo, Office: other, Env: os.LookupEnv}); p.Root != other {
		t.Errorf("--office: %s", p.Root)
	}
	env := configtest.Env(map[string]string{"COMPANY_OFFICE": other, "HOME": configtest.Dir(t)})
	if p := mustFind(t, FindOptions{Dir: repo, Env: env}); p.Root != other || p.Repo != "" {
		t.Errorf("COMPANY_OFFICE: %+v", p)
	}
	if p := mustFind(t, FindOptions{Dir: repo, Env: env, Office: "."}); p.Root != repo {
		t.Errorf("--office over COMPANY_OFFICE: %s", p.Root)
	}
	link := filepath.Join(configtest.Dir(t), "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if p := mustFind(t, FindOptions{Dir: link, Env: os.LookupEnv}); p.Root != other { // STA-15
		t.Errorf("through a link: %s", p.Root)
	}
	// An office above several checkouts serves them all.
	inner := filepath.Join(other, "project")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	configtest.Git(t, inner, "init", "-q")
	if p := mustFind(t, FindOptions{Dir: inner, Env: os.LookupEnv}); p.Root != other {
		t.Errorf("above the checkout: %s", p.Root)
	}
	// What is made once is the nearest from then on.
	mustOpen(t, mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv}))

	for name, o := range map[string]FindOptions{
		"no repository":        {Dir: configtest.Dir(t)},
		"no such folder":       {Dir: filepath.Join(other, "none")},
		"office that is none":  {Dir: repo, Office: configtest.Dir(t)},
		"office not there":     {Dir: repo, Office: "/nonexistent/x"},
		"office that's a file": {Dir: repo, Office: filepath.Join(repo, "README.md")},
	} {
		o.Env = os.LookupEnv
		_, err := Find(o)
		var e *company.Error
		if !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Many processes that make one office at once agree on its id.
func TestIDRace(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			o, err := Open(t.Context(), p)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = o.ID
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || !idRE.MatchString(id) {
			t.Fatalf("ids %v", ids)
		}
	}
	configtest.WriteFile(t, filepath.Join(p.State, "office.json"), `{"version":1,"id":"../x"}`)
	if _, err := Open(t.Context(), p); company.CodeOf(err) != company.EConfig {
		t.Errorf("a damaged id: %v", err)
	}
}

// startHolder starts a second process that holds the office.
func startHolder(t *testing.T, p Paths, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), env...), "OFFICE_TEST_HOLD="+p.Root)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // so its verdict tells nothing
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "holding\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return cmd
}

// Two real processes: one holds the office and is named to the other; kill -9
// frees it, and the stale socket goes only under the lock (STA-16).
func TestLockAcrossProcesses(t *testing.T) {
	t.Parallel()
	runtimeDir := configtest.Dir(t)
	if err := os.Chmod(runtimeDir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	env := configtest.Env(map[string]string{"XDG_RUNTIME_DIR": runtimeDir})
	if _, err := os.Lstat(p.Lock()); IsHeld(p) || err == nil {
		t.Fatal("an office that nobody locked is held, or a look made its lock")
	}
	cmd := startHolder(t, p, "XDG_RUNTIME_DIR="+runtimeDir)
	if !IsHeld(p) {
		t.Error("it is not held")
	}

	l, held, err := TryLock(p)
	if l != nil || err != nil || held == nil {
		t.Fatalf("a held office was locked: %v %v %v", l, held, err)
	}
	if held.PID != cmd.Process.Pid || held.Host == "" || held.Started.IsZero() || held.Command == "" ||
		held.Socket != SocketPath(p, env) {
		t.Errorf("holder %+v", held)
	}
	info, err := os.Lstat(held.Socket)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("socket %v %v", info, err)
	}
	conn, err := DialSocket(t.Context(), held.Socket)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()

	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the holder ended by %v", err)
	}
	if _, err := os.Lstat(held.Socket); err != nil {
		t.Fatalf("kill -9 took the socket along: %v", err)
	}
	if _, err := DialSocket(t.Context(), held.Socket); company.CodeOf(err) != company.EHeld {
		t.Errorf("a dead socket: %v", err)
	}
	if IsHeld(p) {
		t.Error("a dead process holds it")
	}
	l, held, err = TryLock(p)
	if err != nil || held != nil {
		t.Fatalf("after kill -9: %v %v", held, err)
	}
	if !IsHeld(p) {
		t.Error("the lock of this process is another one's")
	}
	if second, held, err := TryLock(p); second != nil || err != nil || held.PID != os.Getpid() {
		t.Fatalf("locked twice in one process: %v %v", held, err)
	}
	ln, err := ListenSocket(l, env)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, ln, l.Holder().Socket)
	if err := errors.Join(ln.Close(), l.Release(), l.Release()); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenSocket(l, env); company.CodeOf(err) != company.EInternal {
		t.Errorf("a socket without the lock: %v", err)
	}
	if l, held, err = TryLock(p); err != nil || held != nil {
		t.Fatalf("after Release: %v %v", held, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

// roundTrip says a word through the socket.
func roundTrip(t *testing.T, ln net.Listener, path string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		c, err := ln.Accept()
		if err == nil {
			_, err = c.Write([]byte("hello\n"))
			err = errors.Join(err, c.Close())
		}
		done <- err
	}()
	c, err := DialSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("heard %q, %v", line, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestLockRefusesLink(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	victim := filepath.Join(configtest.Dir(t), "victim")
	configtest.WriteFile(t, victim, "precious")
	if err := os.Symlink(victim, p.Lock()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := TryLock(p); company.CodeOf(err) != company.EConfig {
		t.Fatalf("got %v", err)
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "precious" {
		t.Fatalf("the link's target holds %q, %v", data, err)
	}
}

// A second name elsewhere would let the holder's name be written into another
// file.
func TestLockRefusesSecondName(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	victim := filepath.Join(filepath.Dir(p.State), "victim")
	configtest.WriteFile(t, victim, "precious")
	if err := os.Link(victim, p.Lock()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := TryLock(p); company.CodeOf(err) != company.EConfig {
		t.Fatalf("got %v", err)
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "precious" {
		t.Fatalf("the other name holds %q, %v", data, err)
	}
}

// The socket lies in a folder that is ours alone, or nowhere.
func TestSocketFolder(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	fallback := filepath.Join("/tmp", fmt.Sprintf("company-%d", os.Geteuid()))
	open, file := configtest.Dir(t), filepath.Join(configtest.Dir(t), "file")
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	configtest.WriteFile(t, file, "")
	private := filepath.Join(configtest.Dir(t), "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(configtest.Dir(t), "link")
	if err := os.Symlink(private, link); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"open to others": open, "a file": file, "a link": link,
		"absent": "/nonexistent", "relative": "x", "long": "/" + strings.Repeat("x", 100)} {
		if got := SocketPath(p, configtest.Env(map[string]string{"XDG_RUNTIME_DIR": dir})); filepath.Dir(got) != fallback {
			t.Errorf("%s: %s", name, got)
		}
	}
	env := configtest.Env(map[string]string{"XDG_RUNTIME_DIR": private})
	path := SocketPath(p, env)
	if filepath.Dir(path) != private {
		t.Fatalf("a private folder: %s", path)
	}
	l, held, err := TryLock(p)
	if err != nil || held != nil {
		t.Fatalf("%v %v", held, err)
	}
	configtest.WriteFile(t, path, "not a socket")
	if _, err := ListenSocket(l, env); company.CodeOf(err) != company.EConfig {
		t.Errorf("a file in the socket's place: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "not a socket" {
		t.Errorf("the file was removed: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	// Without the variable it is the folder of /tmp, made when it is missing.
	_, err = os.Lstat(fallback)
	missing := errors.Is(err, os.ErrNotExist)
	ln, err := ListenSocket(l, configtest.Env(nil))
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, ln, l.Holder().Socket)
	if err := requirePrivateDir(fallback); err != nil {
		t.Error(err)
	}
	if err := errors.Join(ln.Close(), l.Release()); err != nil {
		t.Fatal(err)
	}
	if missing {
		_ = os.Remove(fallback) // only when nobody else uses it
	}
}

// A hostile repository's git config runs nothing while we look (T11).
func TestHostileGitConfigRunsNothing(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{"company.yaml": "version: 1\n"})
	canary := filepath.Join(configtest.Dir(t), "fired")
	script := filepath.Join(configtest.Dir(t), "canary.sh")
	configtest.WriteFile(t, script, "#!/bin/sh\ntouch "+canary+"\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	configtest.Git(t, repo, "config", "core.fsmonitor", script)
	configtest.Git(t, repo, "config", "core.pager", script)
	configtest.Git(t, repo, "config", "alias.ls-files", "!"+script)
	if _, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: repo}); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv}))
	if _, err := os.Lstat(canary); err == nil {
		t.Fatal("the repository's config ran a command")
	}
	// The canary is alive: git by itself fires it.
	configtest.Git(t, repo, "status")
	if _, err := os.Lstat(canary); err != nil {
		t.Fatal("the canary never fires")
	}
}
