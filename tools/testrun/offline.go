package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"company/internal/lib/hosttest"

	"golang.org/x/sys/unix"
)

// offlineArgument is the argument with which this program becomes another one, once it has brought up the loopback of
// the network that it was started in.
const offlineArgument = "-offline-exec"

// testCommand is a go test. In make test, tests reach this machine's loopback alone, so that none of them can come to
// depend on a registry: set-up fetches. That takes root, and a Docker daemon at a socket.
func (r *run) testCommand(ctx context.Context, args ...string) *exec.Cmd {
	if r.long || !offlineWorks() {
		return command(ctx, "go", args...)
	}
	cmd := command(ctx, os.Args[0], append([]string{offlineArgument, "go"}, args...)...)
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNET
	return cmd
}

// offlineWorks tries whether this user can make a network. Where Docker is reached by TCP there must be none.
var offlineWorks = sync.OnceValue(func() bool {
	if docker := os.Getenv("DOCKER_HOST"); docker != "" && !strings.HasPrefix(docker, "unix:") {
		return false
	}
	cmd := exec.Command(os.Args[0], offlineArgument, "true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	return cmd.Run() == nil
})

// becomeOffline brings up the loopback and becomes the program that argv names. It returns only if that fails.
func becomeOffline(argv []string) error {
	if err := hosttest.BringUpLoopback(); err != nil {
		return err
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	env := append(os.Environ(), fmt.Sprintf("%s=/proc/%d/ns/net", hosttest.HostNetworkVariable, os.Getppid()))
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, argv, env))
}
