package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"company/internal/lib/hosttest"
	"company/internal/office/config"
	"company/test/goroutines"
)

func TestMain(m *testing.M) {
	// The program of a test cannot be the company in the background.
	if err := os.Setenv(config.VarForeground, "1"); err != nil {
		panic(err)
	}
	testscript.Main(leakCheckedTests{m}, map[string]func(){
		"company": func() { os.Exit(Main(os.Args[1:])) },
		// A program that never comes to the end of its draining.
		"slow-drain": func() {
			ctx, _ := withInterrupt(context.Background())
			fmt.Println("ready")
			<-ctx.Done()
			fmt.Println("draining")
			time.Sleep(time.Hour)
		},
	})
}

// leakCheckedTests is the tests, and a look after them at what they left running.
type leakCheckedTests struct{ m *testing.M }

func (t leakCheckedTests) Run() int {
	remove := goroutines.OwnHome()
	code := t.m.Run()
	remove()
	if err := goroutines.Left(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// What a person types and reads: exit codes, error codes, hints, and that what
// is refused leaves no trace (CLI-7, CFG-2, CFG-3, DOC-1).
func TestScripts(t *testing.T) {
	runScripts(t, "testdata/script")
}

// The same of an office that works, and of what ends a program. Nothing to resume is an error (APR-13).
func TestScriptsOfAnOffice(t *testing.T) {
	hosttest.NeedsDocker(t)
	runScripts(t, "testdata/office")
}

// listNoModels is a model's server that takes any name: its list is empty.
func listNoModels(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/models" {
		http.NotFound(w, r)
		return
	}
	_, _ = io.WriteString(w, `{"data":[]}`)
}

// runScripts runs the scripts of a folder.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			model := httptest.NewServer(http.HandlerFunc(listNoModels))
			env.Defer(model.Close)
			for k, v := range map[string]string{
				"HOME": "$WORK/home", "XDG_CONFIG_HOME": "$WORK/config", "XDG_STATE_HOME": "$WORK/state",
				"XDG_CACHE_HOME":      cacheHome(),
				"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "President", "GIT_AUTHOR_EMAIL": "president@example.com",
				"GIT_COMMITTER_NAME": "President", "GIT_COMMITTER_EMAIL": "president@example.com",
				"GIT_CEILING_DIRECTORIES": env.WorkDir,
				config.VarForeground:      "1",
				// Nobody is asked in these scripts, but somebody must be there.
				"COMPANY_MODELS_DEFAULT_ADAPTER": "openai", "COMPANY_MODELS_DEFAULT_BASE_URL": model.URL + "/v1",
			} {
				env.Setenv(k, strings.ReplaceAll(v, "$WORK", env.WorkDir))
			}
			for _, d := range []string{"home", "config", "state"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, d), 0o700); err != nil {
					return err
				}
			}
			// A socket's path is short; the script's folder may not be.
			run, err := os.MkdirTemp("", "company-cli-")
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(run) })
			env.Setenv("XDG_RUNTIME_DIR", run)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":       checkExitCode,
			"repository": makeRepository,
			"untouched":  checkUntouched,
			"events":     checkEventCount,
			"fill":       fillFile,
			"interrupt":  interruptCommand,
		},
	})
}

func cacheHome() string {
	if d := os.Getenv("XDG_CACHE_HOME"); d != "" {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir()
	}
	return filepath.Join(home, ".cache")
}

// checkExitCode runs a command and checks its exact exit code; its streams are in the
// files out and err. The words >closed in front: nobody reads its stdout.
func checkExitCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: code number [>closed] [<file] command…")
	}
	args = args[1:]
	var stdout, stderr bytes.Buffer
	var closed *os.File
	if args[0] == ">closed" {
		r, w, err := os.Pipe()
		ts.Check(err)
		ts.Check(r.Close())
		closed, args = w, args[1:]
	}
	var in *os.File
	if name, ok := strings.CutPrefix(args[0], "<"); ok {
		in, err = os.Open(ts.MkAbs(name))
		ts.Check(err)
		defer in.Close()
		args = args[1:]
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		path, err = lookIn(ts.Getenv("PATH"), args[0])
	}
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if closed != nil {
		cmd.Stdout = closed
		defer closed.Close()
	}
	if in != nil {
		cmd.Stdin = in
	}
	for _, k := range []string{"PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"XDG_RUNTIME_DIR", "GIT_CONFIG_NOSYSTEM",
		"GIT_CEILING_DIRECTORIES", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
		"COMPANY_MODELS_DEFAULT_ADAPTER", "COMPANY_MODELS_DEFAULT_BASE_URL", "COMPANY_OFFICE", "COMPANY_WORKERS_MAX",
		"COMPANY_ENV", "DOCKER_HOST"} {
		if v := ts.Getenv(k); v != "" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	ts.Check(cmd.Start())
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(ts.Getenv("WORK")+"/out"), stdout.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(ts.Getenv("WORK")+"/err"), stderr.Bytes(), 0o600))
	ts.Logf("[exit %d]\n%s%s", cmd.ProcessState.ExitCode(), stdout.String(), stderr.String())
	if strings.Contains(stderr.String(), "panic:") || strings.Contains(stderr.String(), "goroutine ") {
		ts.Fatalf("it panicked")
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%s: exit %d, want %d", strings.Join(args, " "), got, want)
	}
}

func lookIn(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode()&0o111 != 0 {
			return filepath.Join(dir, name), nil
		}
	}
	return "", fmt.Errorf("there is no %s", name)
}

// interruptCommand starts a program and sends it an interrupt after each line that it
// prints; its exit code must be 130.
func interruptCommand(ts *testscript.TestScript, _ bool, args []string) {
	path, err := lookIn(ts.Getenv("PATH"), args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		ts.Logf("%s", lines.Text())
		_ = cmd.Process.Signal(os.Interrupt)
	}
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 {
		ts.Fatalf("%v, want exit 130", err)
	}
}

// makeRepository makes a git repository with one commit of a README.
func makeRepository(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "README"), []byte("a project\n"), 0o644))
	for _, a := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "add", "-A"},
		{"-C", dir, "commit", "-q", "-m", "first commit"}} {
		ts.Check(ts.Exec("git", a...))
	}
}

// checkUntouched says that nothing of an office is in a folder, and that git sees
// no change there.
func checkUntouched(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for _, name := range []string{".company", "runtime", "workflows"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			ts.Fatalf("%s was made in %s", name, dir)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".git", "info", "exclude")); err == nil &&
		strings.Contains(string(text), ".company") {
		ts.Fatalf("the repository's list of ignored files was changed")
	}
}

// checkEventCount checks how many events the ledger of the office in the working
// folder holds, as company feed tells.
func checkEventCount(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	checkExitCode(ts, false, []string{"0", "company", "feed", "-o", "json"})
	if got := strings.Count(ts.ReadFile(ts.Getenv("WORK")+"/out"), "\n"); got != want {
		ts.Fatalf("the ledger holds %d events, want %d", got, want)
	}
}

// fillFile writes a file of so many bytes of one character.
func fillFile(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	c, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(c, n)), 0o600))
}
