// Command probe is what the tests of the runtime run inside a container. It
// tells what it sees and what it may do; the tests judge.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("usage: probe <command> [argument]"))
	}
	arg := ""
	if len(os.Args) > 2 {
		arg = os.Args[2]
	}
	switch os.Args[1] {
	case "echo": // a byte stream both ways until end of file
		fmt.Fprintln(os.Stderr, "echo is ready")
		_, err := io.Copy(os.Stdout, os.Stdin)
		fail(err)
	case "exit":
		os.Exit(number(arg))
	case "sum": // reads all of stdin first
		h := sha256.New()
		n, err := io.Copy(h, os.Stdin)
		fail(err)
		fmt.Printf("%d %s\n", n, hex.EncodeToString(h.Sum(nil)))
	case "flood": // n bytes on each of stdout and stderr
		flood(number(arg))
	case "hang":
		fmt.Println("hanging")
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		time.Sleep(time.Hour)
	case "orphan": // leaves a child behind that holds the output open
		child(exec.Command("/proc/self/exe", "hang"))
		os.Exit(7)
	case "alloc": // touches n MiB
		alloc(number(arg))
	case "outlive": // has a child that touches n MiB, tells how that ends, and goes on
		child := exec.Command("/proc/self/exe", "alloc", arg)
		fmt.Println(child.Run())
		time.Sleep(time.Hour)
	case "fill": // writes to a file until refused
		fill(arg)
	case "forks": // starts children until refused
		forks()
	case "facts":
		fail(json.NewEncoder(os.Stdout).Encode(facts()))
	case "socketcall": // the 386 build of this program: must not get this far
		fmt.Println("running")
		_, _, errno := unix.Syscall(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0)
		fmt.Println("socket:", errno)
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(100)
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	fail(err)
	return n
}

func flood(n int) {
	out, errs := bufio.NewWriter(os.Stdout), bufio.NewWriter(os.Stderr)
	for range n {
		_ = out.WriteByte('o')
		_ = errs.WriteByte('e')
	}
	fail(errors.Join(out.Flush(), errs.Flush()))
}

func alloc(mib int) {
	var keep [][]byte
	for range mib {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		keep = append(keep, b)
	}
	fmt.Println("allocated", len(keep))
}

func fill(path string) {
	f, err := os.Create(path)
	fail(err)
	block := make([]byte, 1<<20)
	written := 0
	for {
		n, err := f.Write(block)
		written += n
		if err != nil {
			fmt.Println(written>>20, result(err))
			return
		}
	}
}

func child(c *exec.Cmd) {
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	fail(c.Start())
}

func forks() {
	started := 0
	for started < 10_000 {
		c := exec.Command("/proc/self/exe", "hang")
		if err := c.Start(); err != nil {
			fmt.Println(started, result(err))
			return
		}
		started++
	}
	fmt.Println(started, "ok")
}

// Facts is what one look around finds. Results are "ok" or the errno's name.
type Facts struct {
	UID, GID   int
	Groups     []int
	PID        int
	Status     map[string]string // of /proc/self/status
	Interfaces []string
	Mounts     []string // "<mount point> <type> <options>" of mountinfo
	Devices    []string
	Resolv     string
	Hosts      string
	Hostname   string
	Env        []string
	Cwd        string
	Processes  []string
	Write      map[string]string // path → result of creating a file there
	Socket     map[string]string
	Syscall    map[string]string
	Connect    map[string]string
	Exists     map[string]bool
	Exec       string // running a program from /work
}

func facts() Facts {
	f := Facts{
		UID: os.Getuid(), GID: os.Getgid(), PID: os.Getpid(), Env: os.Environ(),
		Status: map[string]string{}, Write: map[string]string{}, Socket: map[string]string{},
		Syscall: map[string]string{}, Connect: map[string]string{}, Exists: map[string]bool{},
	}
	f.Groups, _ = os.Getgroups()
	f.Hostname, _ = os.Hostname()
	f.Cwd, _ = os.Getwd()
	for _, line := range strings.Split(read("/proc/self/status"), "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok {
			f.Status[k] = strings.TrimSpace(v)
		}
	}
	ifs, err := net.Interfaces()
	fail(err)
	for _, i := range ifs {
		f.Interfaces = append(f.Interfaces, i.Name)
	}
	for _, line := range strings.Split(strings.TrimSpace(read("/proc/self/mountinfo")), "\n") {
		left, right, _ := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		f.Mounts = append(f.Mounts, l[4]+" "+r[0]+" "+l[5]+","+r[2])
	}
	entries, err := os.ReadDir("/dev")
	fail(err)
	for _, e := range entries {
		f.Devices = append(f.Devices, e.Name())
	}
	procs, err := os.ReadDir("/proc")
	fail(err)
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err == nil {
			f.Processes = append(f.Processes, p.Name())
		}
	}
	f.Resolv, f.Hosts = read("/etc/resolv.conf"), read("/etc/hosts")
	for _, p := range []string{"/x", "/usr/local/bin/x", "/etc/x", "/work/x", "/tmp/x", "/home/agent/x", "/dev/shm/x", "/sys/fs/cgroup/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/etc/hosts", "/usr/local/bin/probe"} {
		f.Write[p] = write(p)
	}
	for _, p := range []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/home/agent/.ssh", "/root/.ssh"} {
		_, err := os.Lstat(p)
		f.Exists[p] = err == nil
	}
	sockets(f.Socket)
	syscalls(f.Syscall)
	for _, a := range []string{"1.1.1.1:443", "[2606:4700:4700::1111]:443", "169.254.169.254:80", "172.17.0.1:2375", "192.168.65.7:2375"} {
		c, err := net.DialTimeout("tcp", a, 5*time.Second)
		f.Connect[a] = result(err)
		if err == nil {
			c.Close()
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	fail(err)
	fail(os.WriteFile("/work/copy", self, 0o755))
	f.Exec = result(exec.Command("/work/copy", "exit", "0").Run())
	return f
}

func read(path string) string {
	b, err := os.ReadFile(path)
	fail(err)
	return string(b)
}

func write(path string) string {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil {
		f.Close()
	}
	return result(err)
}

// result names an error by its errno, which is what the kernel said.
func result(err error) string {
	if err == nil {
		return "ok"
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if errno == 0 {
			return "ok"
		}
		return unix.ErrnoName(errno)
	}
	return err.Error()
}
