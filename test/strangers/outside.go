package strangers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"company/internal/lib/hosttest"

	"golang.org/x/sys/unix"
)

// mostOutside is how long one command of a suite may take outside.
const mostOutside = 15 * time.Minute

// Host runs suites on this host, in a copy of the checkout: with this user and
// without privileges, offline but for the loopback, with the tools in PATH.
type Host struct {
	Prepare string // with the network: what a maintainer does once after a clone
}

type hostSuite struct {
	dir string
	env []string
}

// Copy copies the checkout to a folder of its own and prepares it.
func (h Host) Copy(ctx context.Context, _ Stranger, from Checkout) (Suite, error) {
	dir, err := os.MkdirTemp("", "company-outside-")
	if err != nil {
		return nil, err
	}
	s := hostSuite{dir: dir}
	err = errors.Join(copyTree(filepath.Join(dir, "src"), from.Dir), os.Mkdir(filepath.Join(dir, "home"), 0o755),
		os.Mkdir(filepath.Join(dir, "tmp"), 0o755))
	if err == nil {
		s.env, err = hostEnv(ctx, dir)
	}
	if err == nil {
		err = runHere(ctx, filepath.Join(dir, "src"), s.env, "sh", "-ec", h.Prepare)
	}
	if err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// hostEnv keeps what tools write to the copy's folder, and Go's caches where they are.
func hostEnv(ctx context.Context, dir string) ([]string, error) {
	home := filepath.Join(dir, "home")
	out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	v := strings.Split(string(out), "\n")
	return append(nodeEnv(home), "TMPDIR="+filepath.Join(dir, "tmp"),
		"GOMODCACHE="+v[0], "GOCACHE="+v[1], "GOPROXY="+v[2], "GOSUMDB="+v[3], "GOFLAGS=-buildvcs=false -count=1",
		"GOTOOLCHAIN=local", "GOWORK=off",
		"PATH="+filepath.Join(home, "tools", "node_modules", ".bin")+":"+os.Getenv("PATH")), nil
}

// Run runs a command offline: this program starts itself in a network of its own,
// gives up what it may, and becomes the shell.
func (s hostSuite) Run(ctx context.Context, command string) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, mostOutside)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return 0, "", err
	}
	cmd := exec.CommandContext(ctx, self, offlineShell, command)
	cmd.Dir, cmd.Env = filepath.Join(s.dir, "src"), append(os.Environ(), s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Setpgid: true}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return runToEnd(ctx, cmd)
}

func (s hostSuite) Remove() error { return removeCopy(s.dir) }

// removeCopy removes a folder in which tests may have made folders read-only.
func removeCopy(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(p, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// runToEnd runs a command and gives its exit code and what it printed.
func runToEnd(ctx context.Context, cmd *exec.Cmd) (int, string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return 0, out.String(), fmt.Errorf("%s: not over in time: %w", cmd.Args[0], context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, out.String(), err
	}
	return cmd.ProcessState.ExitCode(), out.String(), nil
}

// offlineShell is the argument by which this program becomes a shell that can reach
// the loopback alone.
const offlineShell = "offline-shell"

// becomeShell is what the child of Run does. It returns with an error only.
func becomeShell(command string) error {
	if err := hosttest.BringUpLoopback(); err != nil {
		return err
	}
	// Root without capabilities is a user who owns its files, and no more.
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop the capability %d: %w", c, err)
		}
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	return syscall.Exec(shell, []string{"sh", "-c", command}, os.Environ())
}

// DebianContainer runs suites in a container of Debian alone, with the compilers and
// libraries that its packages are built with.
type DebianContainer struct{}

type containerSuite struct{ dir, image string }

// Copy copies the checkout to a folder of its own, and sees that the image is there.
func (DebianContainer) Copy(ctx context.Context, _ Stranger, from Checkout) (Suite, error) {
	image, err := buildOutsideImage(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "company-outside-")
	if err != nil {
		return nil, err
	}
	s := containerSuite{dir, image}
	if err := copyTree(filepath.Join(dir, "src"), from.Dir); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

func (s containerSuite) Run(ctx context.Context, command string) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, mostOutside)
	defer cancel()
	name := filepath.Base(s.dir)
	cmd := exec.CommandContext(ctx, "docker", "run", "--rm", "--name", name, "--network", "none", "--cap-drop",
		"ALL", "--init",
		"--user", strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid()), "-v", filepath.Join(s.dir, "src")+":/src", "-w",
		"/src", "-e", "HOME=/tmp", "-e", "LC_ALL=C.UTF-8",
		s.image, "bash", "-c", command)
	cmd.Cancel = func() error { return exec.Command("docker", "rm", "-f", name).Run() }
	return runToEnd(ctx, cmd)
}

func (s containerSuite) Remove() error { return removeCopy(s.dir) }
