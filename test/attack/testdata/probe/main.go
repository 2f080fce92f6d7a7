// Command probe is run by a hostile worker inside its container. It tries what
// must not work and prints a line for each try: what, and the kernel's answer.
// It judges nothing; the test does, from outside.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "old":
		oldCalls()
	case len(os.Args) == 3 && os.Args[1] == "look":
		look(os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: probe look <port of the host's model> | probe old")
		os.Exit(64)
	}
}

// tell prints one line: a name without spaces, and a result.
func tell(name string, result any) {
	if err, ok := result.(error); ok || result == nil {
		result = word(err)
	}
	fmt.Printf("%s %v\n", strings.ReplaceAll(name, " ", "_"), result)
}

// word names an error by its errno, which is what the kernel said.
func word(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &errno) && errno == 0:
		return "ok"
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	}
	return strings.ReplaceAll(err.Error(), " ", "_")
}

func look(model string) {
	status()
	processes()
	places()
	mounts()
	network(model)
	sockets()
	calls()
	tell("done", "ok")
}

// status: who we are and what we may (1, 2).
func status() {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tell("status", err)
		return
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp":
			tell(key, strings.Join(strings.Fields(value), ","))
		}
	}
	tell("setuid", setuidGain())
}

// setuidGain runs a program that belongs to root and carries the setuid bit,
// and looks at who it then is (3).
func setuidGain() string {
	var found string
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/sbin"} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Mode()&os.ModeSetuid != 0 && found == "" && e.Name() == "su" {
				found = filepath.Join(dir, e.Name())
			}
		}
	}
	if found == "" {
		return "none"
	}
	c := exec.Command(found) // asks for a password and waits
	in, err := c.StdinPipe()
	if err != nil {
		return word(err)
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		return word(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	time.Sleep(100 * time.Millisecond)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	if err != nil {
		return word(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "Uid:"); ok {
			return strings.Join(strings.Fields(v), ",")
		}
	}
	return "unknown"
}

// processes: nobody else's are seen, and PID 1 keeps its own to itself (22).
func processes() {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		comm, _ := os.ReadFile("/proc/" + d.Name() + "/comm")
		parent := ""
		if stat, err := os.ReadFile("/proc/" + d.Name() + "/stat"); err == nil {
			if f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(f) > 1 {
				parent = f[1]
			}
		}
		tell("process", fmt.Sprintf("%d,%s,%s", pid, parent, strings.TrimSpace(string(comm))))
	}
	for _, name := range []string{"environ", "mem", "maps", "fd", "root", "cwd", "exe", "ns/net", "fd/0", "fd/1"} {
		p := "/proc/1/" + name
		var err error
		switch name {
		case "root", "cwd", "exe", "ns/net":
			_, err = os.Readlink(p)
		case "fd":
			_, err = os.ReadDir(p)
		default:
			var f *os.File
			if f, err = os.OpenFile(p, os.O_RDWR, 0); err == nil {
				f.Close()
			}
		}
		tell("pid1 "+name, err)
	}
	tell("kill1 SIGKILL", syscall.Kill(1, syscall.SIGKILL)) // the kernel takes it and does nothing
	tell("kill1 SIGSTOP", syscall.Kill(1, syscall.SIGSTOP))
}

// places: what may be written and read (10, 14–18, 34).
func places() {
	for _, p := range []string{
		"/x", "/usr/x", "/usr/local/bin/toolbox", "/usr/local/go/bin/go", "/usr/bin/git", "/opt/gocache/x", "/opt/repo.git/HEAD", "/opt/repo.git/objects/x",
		"/etc/x", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/passwd", "/etc/gitconfig", "/root/x", "/var/x", "/dev/x",
		"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/net/ipv4/ip_forward",
		"/sys/x", "/sys/fs/cgroup/x", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/release_agent",
		"/sys/fs/cgroup/pids/pids.max", "/sys/fs/cgroup/memory.max", "/sys/kernel/uevent_helper",
		"/work/x", "/tmp/x", "/home/agent/x", "/dev/shm/x",
	} {
		f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE, 0o644)
		if err == nil {
			f.Close()
		}
		tell("write "+p, err)
	}
	tell("mkdir cgroup", os.Mkdir("/sys/fs/cgroup/memory/x", 0o755))
	for _, p := range []string{
		"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/kmsg", "/dev/kmsg", "/dev/mem", "/etc/shadow",
		"/sys/firmware/dmi", "/sys/kernel/debug/x", "/proc/1/environ",
	} {
		tell("read "+p, reading(p))
	}
	for _, p := range []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/containerd", "/home/agent/.ssh", "/root/.ssh", "/.dockerenv-host"} {
		_, err := os.Lstat(p)
		tell("there "+p, err)
	}
	entries, _ := os.ReadDir("/dev")
	for _, e := range entries {
		tell("device", e.Name())
	}
	tell("mknod block", unix.Mknod("/tmp/blk", unix.S_IFBLK|0o600, 0x0800))
	tell("mknod kmsg", unix.Mknod("/tmp/kmsg", unix.S_IFCHR|0o600, 0x010b))
}

// reading says what comes of reading a file: an error, nothing, or bytes.
func reading(p string) any {
	if info, err := os.Stat(p); err == nil && info.IsDir() {
		entries, err := os.ReadDir(p)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return "empty"
		}
		return fmt.Sprintf("%d_entries", len(entries))
	}
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := f.Read(make([]byte, 16))
	if n > 0 {
		return fmt.Sprintf("%d_bytes", n)
	}
	if err != nil && err.Error() != "EOF" {
		return err
	}
	return "empty"
}

// mounts (23).
func mounts() {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		tell("mounts", err)
		return
	}
	for line := range strings.Lines(string(text)) {
		left, right, _ := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		tell("mount", l[4]+" "+r[0]+" "+l[5]+","+r[2][:min(len(r[2]), 60)])
	}
	resolv, _ := os.ReadFile("/etc/resolv.conf")
	tell("resolv", strings.ReplaceAll(strings.TrimSpace(string(resolv)), "\n", ";"))
	var self unix.Stat_t
	tell("fd3", unix.Fstat(3, &self)) // a Go program may hold one itself; told for the record
}

// network (4–9).
func network(model string) {
	ifs, err := net.Interfaces()
	if err != nil {
		tell("interfaces", err)
	}
	for _, i := range ifs {
		tell("interface", i.Name)
	}
	for _, a := range []string{
		"1.1.1.1:443", "[2606:4700:4700::1111]:443", "169.254.169.254:80", "172.17.0.1:2375", "172.17.0.1:22", "192.168.65.7:2375",
		"127.0.0.1:" + model, "127.0.0.1:2375",
	} {
		c, err := net.DialTimeout("tcp", a, 5*time.Second)
		tell("tcp "+a, err)
		if err == nil {
			c.Close()
		}
	}
	c, err := net.DialTimeout("udp", "8.8.8.8:53", time.Second)
	if err == nil {
		_, err = c.Write([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01"))
		c.Close()
	}
	tell("udp 8.8.8.8:53", err)

	if _, err := net.LookupHost("example.com"); err != nil {
		tell("dns", "refused")
	} else {
		tell("dns", nil)
	}
	// The gateway's port is taken; nobody can stand in its place.
	l, err := net.Listen("tcp4", "127.0.0.1:8377")
	if err == nil {
		l.Close()
	}
	tell("listen gateway", err)
	reuse, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		_ = unix.SetsockoptInt(reuse, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		_ = unix.SetsockoptInt(reuse, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		tell("listen gateway again", unix.Bind(reuse, &unix.SockaddrInet4{Port: 8377, Addr: [4]byte{127, 0, 0, 1}}))
		unix.Close(reuse)
	}
	c, err = net.DialTimeout("tcp", "127.0.0.1:8377", 5*time.Second) // the positive control
	tell("tcp gateway", err)
	if err == nil {
		c.Close()
	}
}
