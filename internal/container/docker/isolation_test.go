package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/container"
)

// probeFacts mirrors what testdata/probe prints.
type probeFacts struct {
	UID, GID, PID int
	Groups        []int
	Status        map[string]string
	Interfaces    []string
	Mounts        []string
	Devices       []string
	Resolv, Hosts string
	Hostname      string
	Env           []string
	Cwd           string
	Processes     []string
	Write         map[string]string
	Socket        map[string]string
	Syscall       map[string]string
	Connect       map[string]string
	Exists        map[string]bool
	Exec          string
}

func lookAround(t *testing.T, spec container.Spec) probeFacts {
	t.Helper()
	exit, out, errs := gate(t, newRuntime(t), spec, "")
	if exit.Code != 0 {
		t.Fatalf("the probe could not run: exit %+v\n%s%s", exit, out, errs)
	}
	var f probeFacts
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// The facts that a container has about itself, by the numbers of the list of
// isolation probes. What a kernel answers, not what we asked for (CTR-4).
func TestIsolationFacts(t *testing.T) {
	t.Setenv("COMPANY_CANARY", "host-canary")
	spec := newSpec("facts")
	spec.Env = []string{"GREETING=hello there"}
	f := lookAround(t, spec)

	if f.UID != container.UID || f.GID != container.UID || slices.Contains(f.Groups, 0) { // 1
		t.Errorf("uid %d, gid %d, groups %v", f.UID, f.GID, f.Groups)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if v, err := strconv.ParseUint(f.Status[set], 16, 64); err != nil || v != 0 {
			t.Errorf("%s is %q", set, f.Status[set])
		}
	}
	if f.Status["NoNewPrivs"] != "1" || f.Status["Seccomp"] != "2" { // 2, 3: the binary is setuid root
		t.Errorf("NoNewPrivs %q, Seccomp %q", f.Status["NoNewPrivs"], f.Status["Seccomp"])
	}
	for a, result := range f.Connect { // 4–8
		if result != "ENETUNREACH" && result != "EADDRNOTAVAIL" {
			t.Errorf("connecting to %s: %s", a, result)
		}
	}
	if !slices.Equal(f.Interfaces, []string{"lo"}) { // 9
		t.Errorf("interfaces %v", f.Interfaces)
	}
	for p, there := range f.Exists { // 10, CTR-8
		if there {
			t.Errorf("%s is there", p)
		}
	}
	if f.PID != 1 || !slices.Equal(f.Processes, []string{"1"}) { // 22
		t.Errorf("pid %d sees %v", f.PID, f.Processes)
	}
	if strings.Contains(strings.Join(f.Env, " "), "canary") || !slices.Contains(f.Env, "GREETING=hello there") { // 28
		t.Errorf("environment %q", f.Env)
	}
	for _, d := range f.Devices { // 34
		if !slices.Contains(
			[]string{"core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty",
				"urandom", "zero"}, d) {
			t.Errorf("device %s", d)
		}
	}
	if f.Cwd != container.WorkDir || f.Hostname != hostname {
		t.Errorf("cwd %s, host name %s", f.Cwd, f.Hostname)
	}
	if f.Exec != "ok" {
		t.Errorf("a program in %s does not run: %s", container.WorkDir, f.Exec)
	}
	if !strings.Contains(f.Hosts, "localhost") {
		t.Errorf("/etc/hosts: %q", f.Hosts)
	}
}

// A build has what makes a layer and nothing more: files that were put in, a
// writable root file system, and as root the few capabilities of package tools.
func TestBuildFacts(t *testing.T) {
	for profile, want := range map[container.Profile]struct {
		uid  int
		caps uint64
	}{container.Build: {container.UID, 0}, container.BuildRoot: {0, 0xdb}} {
		// CHOWN DAC_OVERRIDE FOWNER FSETID SETGID SETUID
		root, err := rootfs(nil)
		if err != nil {
			t.Fatal(err)
		}
		spec := newBuildSpec(profile, "facts")
		spec.Files = bytes.NewReader(root)
		f := lookAround(t, spec)
		if f.UID != want.uid || f.GID != want.uid || !slices.Equal(f.Interfaces, []string{"lo"}) ||
			!slices.Equal(f.Processes, []string{"1"}) {
			t.Errorf("%s: uid %d, gid %d, interfaces %v, processes %v", profile, f.UID, f.GID, f.Interfaces, f.Processes)
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
			v, err := strconv.ParseUint(f.Status[set], 16, 64)
			if max := want.caps; err != nil || v&^max != 0 || set == "CapBnd" && v != max {
				t.Errorf("%s: %s is %q", profile, set, f.Status[set])
			}
		}
		if f.Status["NoNewPrivs"] != "1" || f.Status["Seccomp"] != "2" {
			t.Errorf("%s: NoNewPrivs %q, Seccomp %q", profile, f.Status["NoNewPrivs"], f.Status["Seccomp"])
		}
		for a, result := range f.Connect {
			if result != "ENETUNREACH" && result != "EADDRNOTAVAIL" {
				t.Errorf("%s: connecting to %s: %s", profile, a, result)
			}
		}
		for p, there := range f.Exists {
			if there {
				t.Errorf("%s: %s is there", profile, p)
			}
		}
	}
}

// CTR-3, CTR-8: no directory of the host is mounted; probe 23.
func TestNoMounts(t *testing.T) {
	f := lookAround(t, newSpec("facts"))
	for _, m := range f.Mounts {
		fields := strings.Fields(m)
		point, kind, opts := fields[0], fields[1], strings.Split(fields[2], ",")
		switch {
		case slices.Contains([]string{container.WorkDir, container.TmpDir, container.HomeDir}, point):
			if kind != "tmpfs" || !slices.Contains(opts, "nosuid") || !slices.Contains(opts, "nodev") ||
				slices.Contains(opts, "noexec") {
				t.Errorf("work space: %s", m)
			}
		case slices.Contains([]string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}, point):
			if !slices.Contains(opts, "ro") {
				t.Errorf("writable: %s", m)
			}
		case point == "/":
			if kind != "overlay" || !slices.Contains(opts, "ro") {
				t.Errorf("root: %s", m)
			}
		case !slices.Contains([]string{"proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2"}, kind):
			t.Errorf("a foreign mount: %s", m)
		}
	}
	if strings.TrimSpace(f.Resolv) != "nameserver 127.0.0.1" {
		t.Errorf("resolv.conf shows %q", f.Resolv)
	}
}

// Probes 14, 15, 17, 18.
func TestWritablePlaces(t *testing.T) {
	f := lookAround(t, newSpec("facts"))
	for p, result := range f.Write {
		writable := slices.ContainsFunc(
			[]string{container.WorkDir, container.TmpDir, container.HomeDir, "/dev/shm"}, func(d string) bool {
				return strings.HasPrefix(p, d+"/")
			})
		switch {
		case writable && result != "ok":
			t.Errorf("writing %s: %s", p, result)
		case !writable && !slices.Contains([]string{"EROFS", "EACCES", "EPERM", "ENOENT"}, result):
			t.Errorf("writing %s: %s", p, result)
		}
	}
	if len(f.Write) < 10 {
		t.Errorf("only %d places were tried", len(f.Write))
	}
}

// Probes 11–14, 19–21, 35: what the filter and the missing capabilities
// refuse, with its positive controls.
func TestSystemCalls(t *testing.T) {
	f := lookAround(t, newSpec("facts"))
	allowed := []string{"unix", "inet", "inet6", "netlink route"}
	for name, result := range f.Socket {
		if want := map[bool]string{true: "ok", false: "EPERM"}[slices.Contains(allowed, name)]; result != want {
			t.Errorf("socket %s: %s, want %s", name, result, want)
		}
	}
	for name, result := range f.Syscall {
		if want := map[bool]string{true: "ok", false: "EPERM"}[name == "getpid"]; result != want {
			t.Errorf("%s: %s, want %s", name, result, want)
		}
	}
	if len(f.Socket) < 12 || len(f.Syscall) < 27 {
		t.Errorf("only %d sockets and %d calls were tried", len(f.Socket), len(f.Syscall))
	}
}

// Probe 36: 32-bit calls have numbers of their own; none gets through.
func Test32BitCalls(t *testing.T) {
	spec := newSpec()
	spec.Command = []string{"/usr/local/bin/probe386", "socketcall"}
	exit, out, _ := gate(t, newRuntime(t), spec, "")
	if exit.Code == 0 || strings.Contains(out, "running") {
		t.Errorf("a 32-bit program ran: exit %+v, %q", exit, out)
	}
}

// Probe 25: a fork bomb meets the limit, and the bomb alone.
func TestForkBomb(t *testing.T) {
	r := newRuntime(t)
	neighbour := mustStart(t, r, newSpec("echo"))
	spec := newSpec("forks")
	spec.Limits.Pids = 64
	exit, out, errs := gate(t, r, spec, "")
	var started int
	var result string
	if _, err := fmt.Sscan(out, &started, &result); err != nil {
		t.Fatalf("exit %+v, %q, %s", exit, out, errs)
	}
	if result != "EAGAIN" || started == 0 || started >= 64 {
		t.Errorf("%d processes started, then %s", started, result)
	}
	requireAlive(t, neighbour)
}

// Probe 26: twice the memory ends this container only.
func TestMemoryBomb(t *testing.T) {
	r := newRuntime(t)
	neighbour := mustStart(t, r, newSpec("echo"))
	spec := newSpec("alloc", "3072")
	spec.Limits.MemoryBytes = 1536 * container.MiB
	exit, out, _ := gate(t, r, spec, "")
	if !exit.OOMKilled || exit.Code != 137 || out != "" {
		t.Errorf("exit %+v, %q", exit, out)
	}
	requireAlive(t, neighbour)
}

// A program that waits on after another one was killed for memory is told as that, too, once its time is over.
func TestMemoryIsToldAtTheDeadline(t *testing.T) {
	r := newRuntime(t)
	spec := newSpec("outlive", "3072")
	spec.Limits.MemoryBytes = 1536 * container.MiB
	for limit := 5 * time.Second; ; limit *= 3 {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(testContext(t), limit)
		exit, err := container.RunGate(ctx, r, spec, strings.NewReader(""), &out, io.Discard)
		cancel()
		if !strings.Contains(out.String(), "killed") && limit < time.Minute {
			continue // a busy machine takes longer to come to the kill
		}
		if !errors.Is(err, context.DeadlineExceeded) || !exit.OOMKilled {
			t.Errorf("%+v, %v, %q", exit, err, out.String())
		}
		return
	}
}

// Probe 27: a full work space is ENOSPC at its size, and PID 1 lives.
func TestFullWorkspace(t *testing.T) {
	r := newRuntime(t)
	for _, c := range []struct {
		path string
		mib  int
	}{{"/work/big", 96}, {"/tmp/big", 57}, {"/home/agent/big", 51}, {"/dev/shm/big", 64}} {
		spec := newSpec("fill", c.path)
		spec.Limits = container.Limits{MemoryBytes: 1024*container.MiB + 268*container.MiB, DiskBytes: 96 * container.MiB}
		exit, out, errs := gate(t, r, spec, "")
		if exit != (container.Exit{}) || out != fmt.Sprintf("%d ENOSPC\n", c.mib) {
			t.Errorf("%s: exit %+v, %q, want %d MiB%s", c.path, exit, out, c.mib, errs)
		}
	}
}

// requireAlive sends a byte through a container and back.
func requireAlive(t *testing.T, c container.Container) {
	t.Helper()
	if _, err := c.Pipe().Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := c.Pipe().Read(b[:]); err != nil || b[0] != 'x' {
		t.Errorf("the neighbour answers %q, %v", b, err)
	}
}

// What the image says must not widen the policy, and may add to it.
func TestImageCannotOverrideThePolicy(t *testing.T) {
	spec := newSpec("facts")
	spec.Image = world.richImage
	spec.Env = []string{"PATH=/usr/local/bin"}
	f := lookAround(t, spec)
	if f.UID != container.UID || f.Cwd != container.WorkDir {
		t.Errorf("uid %d in %s", f.UID, f.Cwd)
	}
	if !slices.Contains(f.Env, "PATH=/usr/local/bin") || !slices.Contains(f.Env, "IMAGE=yes") {
		t.Errorf("environment %q", f.Env)
	}
}

// CTR-7: the defaults, as the daemon has them.
func TestDefaultLimits(t *testing.T) {
	r := newRuntime(t)
	c := mustStart(t, r, newSpec("echo"))
	got, err := world.setup.ContainerInspect(testContext(t), c.ID())
	if err != nil {
		t.Fatal(err)
	}
	h := got.HostConfig
	if h.Memory != 4*container.GiB || h.MemorySwap != h.Memory || h.PidsLimit == nil || *h.PidsLimit != 512 {
		t.Errorf("memory %d, with swap %d, pids %v", h.Memory, h.MemorySwap, h.PidsLimit)
	}
	if want := min(2, r.info.NCPU); h.NanoCPUs != int64(want)*1e9 {
		t.Errorf("cpus %d, want %d", h.NanoCPUs, want)
	}
	if len(got.Mounts) != 0 || len(h.Binds) != 0 || len(h.Mounts) != 0 || len(h.VolumesFrom) != 0 {
		t.Errorf("mounts: %+v", got.Mounts)
	}
}
