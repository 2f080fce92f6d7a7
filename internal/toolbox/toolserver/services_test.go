package toolserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/lib/hosttest"
	"company/internal/toolbox/toolproto"
)

// listServices writes a list of services of these shell texts: started in the
// foreground, and asked whether it is ready.
func listServices(t *testing.T, timeoutS int, all ...toolproto.Service) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "services.json")
	text, err := json.Marshal(toolproto.Services{Services: all, TimeoutS: timeoutS})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func shellService(dir, name, start, ready string) toolproto.Service {
	return toolproto.Service{Name: name, Dir: filepath.Join(dir, name), Start: []string{"sh", "-c", start},
		Ready: []string{"sh", "-c", ready}}
}

func withServices(file string) func(*Config) { return func(c *Config) { c.Services = file } }

// A service is there before the first command, with its own copy of the image's
// data; commands have its variables, the first service's where two give one; and
// where a command has ended it, the next one finds it again.
func TestServicesRunBesideCommands(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "prepared")
	if err := os.MkdirAll(filepath.Join(data, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "file"), []byte("prepared"), 0o444); err != nil {
		t.Fatal(err)
	}
	one := shellService(dir, "one",
		`rm -f ready; echo up; echo $$ >pid; sleep 0.2; test -d data/empty && echo more >>data/file && touch ready; exec sleep 1000`, `kill -0 "$(cat pid)" && test -e ready`)
	one.Data, one.Env = data, map[string]string{"DATABASE_URL": "one", "ONE": "1", "HOME": "/elsewhere"}
	two := shellService(dir, "two", `exec sleep 1000`, `true`)
	two.Env = map[string]string{"DATABASE_URL": "two", "TWO": "2"}
	b := newBench(t, withServices(listServices(t, 30, one, two)))
	r, err := b.Run(
		t.Context(),
		toolproto.RunRequest{Command: "cat " + dir + "/one/data/file " + dir +
			"/one/log; echo $DATABASE_URL $ONE $TWO $HOME"})
	if err != nil || r.Stdout.String() != "preparedmore\nup\none 1 2 /elsewhere\n" {
		t.Fatalf("%v %q %q", err, r.Stdout.String(), r.Stderr.String())
	}
	if info, err := os.Stat(filepath.Join(dir, "one", "data")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data is not private: %v %v", info, err)
	}
	first := pidOf(t, dir)
	if r, err = b.Run(t.Context(), toolproto.RunRequest{Command: "kill -9 " + strconv.Itoa(first)}); err != nil ||
		r.ExitCode != 0 {
		t.Fatal(err, r)
	}
	waitForEnd(t, first)
	<-b.server.services.running["one"].done
	if r, err = b.Run(t.Context(), toolproto.RunRequest{Command: "tail -n 1 " + dir + "/one/data/file"}); err != nil ||
		r.Stdout.String() != "more\n" {
		t.Fatalf("%v %q", err, r.Stdout.String())
	}
	second := pidOf(t, dir)
	if second == first {
		t.Error("it was not started again")
	}
	if err := b.server.Close(); err != nil {
		t.Fatal(err)
	}
	waitForEnd(t, second)
}

func pidOf(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "one", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func waitForEnd(t *testing.T, pid int) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprintf("process %d ends", pid), func() (any, bool) {
		err := syscall.Kill(pid, 0)
		return err, errors.Is(err, syscall.ESRCH)
	})
}

// A service that does not start is an error with the end of its log. The next command
// does not try again, and the other services are ended.
func TestServicesThatDoNotStart(t *testing.T) {
	t.Run("it ends", func(t *testing.T) {
		dir := t.TempDir()
		other := shellService(dir, "one", `echo $$ >pid; touch ready; exec sleep 1000`, "test -e ready")
		bad := shellService(dir, "bad", `echo try >>../tries; echo 'no space left' >&2; exit 3`, "false")
		b := newBench(t, withServices(listServices(t, 60, other, bad)))
		for range 2 {
			_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "true"})
			requireRefusal(t, err, toolproto.KindService, "bad did not start: ")
			requireRefusal(t, err, toolproto.KindService, "exit status 3")
			requireRefusal(t, err, toolproto.KindService, "no space left")
		}
		if tries, err := os.ReadFile(filepath.Join(dir, "tries")); err != nil || string(tries) != "try\n" {
			t.Errorf("it was tried like this: %q %v", tries, err)
		}
		waitForEnd(t, pidOf(t, dir))
	})
	t.Run("it is silent", func(t *testing.T) {
		b := newBench(t, withServices(listServices(t, 2, shellService(t.TempDir(), "mute", "exec sleep 1000", "false"))))
		for range 2 {
			_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "true"})
			requireRefusal(t, err, toolproto.KindService, "mute did not start: it does not answer after 2 seconds")
		}
	})
	dir := t.TempDir()
	none := toolproto.Service{Name: "gone", Dir: filepath.Join(dir, "gone"), Start: []string{"no-such-server"}}
	b := newBench(t, withServices(listServices(t, 10, none)))
	_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "true"})
	requireRefusal(t, err, toolproto.KindService, "no-such-server")
	if _, err := New(
		Config{Root: t.TempDir(), Temp: t.TempDir(), Services: filepath.Join(dir, "..", filepath.Base(dir))}); err == nil {
		t.Error("a list that cannot be read is not a list")
	}
}

// A command may end a service so that it does not start again: its data is broken, the disk is
// full, something else has its port. Later commands run all the same, for nothing else mends that,
// and nothing else commits the work. The first one tells why, and it is not tried again.
func TestServiceThatStaysEnded(t *testing.T) {
	dir := t.TempDir()
	one := shellService(dir, "one",
		`echo try >>tries; test ! -e broken || { echo 'no space left' >&2; exit 3; }; echo $$ >pid; touch ready; exec sleep 1000`, `test -e ready`)
	b := newBench(t, withServices(listServices(t, 30, one)))
	kill := func(more string) {
		t.Helper()
		first := pidOf(t, dir)
		if _, err := b.Run(t.Context(),
			toolproto.RunRequest{Command: "cd " + dir + "/one && rm ready; " + more + "; kill -9 " +
				strconv.Itoa(first)}); err != nil {
			t.Fatal(err)
		}
		<-b.server.services.running["one"].done
	}
	tries := func() int {
		text, err := os.ReadFile(filepath.Join(dir, "one", "tries"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "try")
	}
	if _, err := b.Run(t.Context(), toolproto.RunRequest{Command: "true"}); err != nil {
		t.Fatal(err)
	}

	// What a command has started in its place serves, and is left alone.
	kill("touch ready")
	if r, err := b.Run(t.Context(), toolproto.RunRequest{Command: "echo runs"}); err != nil ||
		r.Stdout.String() != "runs\n" || r.Note != "" || tries() != 1 {
		t.Errorf("beside another server: %v %+v, %d tries", err, r, tries())
	}
	if err := os.Remove(filepath.Join(dir, "one", "ready")); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Run(t.Context(), toolproto.RunRequest{Command: "echo runs"}); err != nil || r.Note != "" ||
		tries() != 2 {
		t.Errorf("it starts again: %v %+v, %d tries", err, r, tries())
	}

	kill("touch broken")
	r, err := b.Run(t.Context(), toolproto.RunRequest{Command: "echo runs"})
	if err != nil || r.Stdout.String() != "runs\n" {
		t.Fatalf("%v %+v", err, r)
	}
	for _, says := range []string{"the service one did not start: exit status 3", "no space left", "not started again"} {
		if !strings.Contains(r.Note, says) {
			t.Errorf("%q is not told: %q", says, r.Note)
		}
	}
	if r, err = b.Run(t.Context(), toolproto.RunRequest{Command: "echo runs"}); err != nil || r.Note != "" ||
		tries() != 3 {
		t.Errorf("it is told twice, or tried again: %v %+v, %d tries", err, r, tries())
	}
}

// A command that asks while another one's start is under way waits for that.
func TestServicesStartOnce(t *testing.T) {
	dir := t.TempDir()
	one := shellService(dir, "one", `echo try >>tries; sleep 0.3; touch ready; exec sleep 1000`, `test -e ready`)
	b := newBench(t, withServices(listServices(t, 30, one)))
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "test -e " + dir + "/one/ready"})
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if tries, err := os.ReadFile(filepath.Join(dir, "one", "tries")); err != nil || string(tries) != "try\n" {
		t.Errorf("%q %v", tries, err)
	}
}

// A command may leave anything in the place of a log. No command waits for it.
func TestLogsThatAreNone(t *testing.T) {
	for name, put := range map[string]string{"a pipe": "mkfifo", "a folder": "mkdir", "a link": "ln -s /dev/full"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one := shellService(dir, "one", `echo $$ >pid; echo up; touch ready; exec sleep 1000`, "test -e ready")
			b := newBench(t, withServices(listServices(t, 30, one)))
			log := filepath.Join(dir, "one", "log")
			if _, err := b.Run(t.Context(),
				toolproto.RunRequest{Command: "rm " + log + " " + filepath.Join(dir, "one", "ready") + "; " + put + " " +
					log}); err != nil {
				t.Fatal(err)
			}
			first := pidOf(t, dir)
			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-b.server.services.running["one"].done
			ended := make(chan error, 1)
			go func() {
				_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "true"})
				ended <- err
			}()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(patience):
				// Whoever waits goes on, and the test ends.
				if f, err := os.OpenFile(log, os.O_RDWR, 0); err == nil {
					defer f.Close()
				}
				<-ended
				t.Fatal("the next command waits for the log")
			}
			if text := readTail(log, 100); text != "up" {
				t.Errorf("%q", text)
			}
		})
	}
}
