package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func sockets(out map[string]string) {
	for name, s := range map[string][3]int{
		"unix":           {unix.AF_UNIX, unix.SOCK_STREAM, 0},
		"inet":           {unix.AF_INET, unix.SOCK_STREAM, 0},
		"inet6":          {unix.AF_INET6, unix.SOCK_DGRAM, 0},
		"netlink route":  {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE},
		"netlink uevent": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT},
		"netlink audit":  {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT},
		"raw":            {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		"packet":         {unix.AF_PACKET, unix.SOCK_RAW, 0},
		"vsock":          {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"alg":            {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		"bluetooth":      {unix.AF_BLUETOOTH, unix.SOCK_RAW, 0},
		"xdp":            {unix.AF_XDP, unix.SOCK_RAW, 0},
	} {
		fd, err := unix.Socket(s[0], s[1], s[2])
		out[name] = result(err)
		if err == nil {
			unix.Close(fd)
		}
	}
}

// syscalls makes calls with arguments that would not harm if they were let
// through.
func syscalls(out map[string]string) {
	var buf [256]byte
	p := uintptr(unsafe.Pointer(&buf))
	name := []byte("x\x00")
	n := uintptr(unsafe.Pointer(&name[0]))
	call := func(what string, nr, a, b, c, d uintptr) {
		_, _, errno := unix.Syscall6(nr, a, b, c, d, 0, 0)
		out[what] = result(errno)
	}
	call("getpid", unix.SYS_GETPID, 0, 0, 0, 0) // the positive control
	call("io_uring_setup", unix.SYS_IO_URING_SETUP, 1, p, 0, 0)
	call("io_uring_enter", unix.SYS_IO_URING_ENTER, 0, 0, 0, 0)
	call("io_uring_register", unix.SYS_IO_URING_REGISTER, 0, 0, 0, 0)
	call("bpf", unix.SYS_BPF, 0, p, 128, 0)
	call("perf_event_open", unix.SYS_PERF_EVENT_OPEN, p, 0, ^uintptr(0), ^uintptr(0))
	call("userfaultfd", unix.SYS_USERFAULTFD, 1, 0, 0, 0)
	call("keyctl", unix.SYS_KEYCTL, 0, 0, 0, 0)
	call("add_key", unix.SYS_ADD_KEY, n, n, n, 1)
	call("request_key", unix.SYS_REQUEST_KEY, n, n, 0, 0)
	call("init_module", unix.SYS_INIT_MODULE, p, 0, n, 0)
	call("finit_module", unix.SYS_FINIT_MODULE, ^uintptr(0), n, 0, 0)
	call("kexec_load", unix.SYS_KEXEC_LOAD, 0, 0, 0, 0)
	call("mount", unix.SYS_MOUNT, n, n, n, 0)
	call("fsopen", unix.SYS_FSOPEN, n, 0, 0, 0)
	call("open_tree", unix.SYS_OPEN_TREE, ^uintptr(99), n, 1, 0)
	call("unshare user", unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0, 0)
	call("unshare mount", unix.SYS_UNSHARE, unix.CLONE_NEWNS, 0, 0, 0)
	call("setns", unix.SYS_SETNS, ^uintptr(0), 0, 0, 0)
	call("ptrace", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1, 0, 0)
	call("process_vm_readv", unix.SYS_PROCESS_VM_READV, 1, p, 1, p)
	call("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(0), p, 0, 0)
	call("sethostname", unix.SYS_SETHOSTNAME, n, 1, 0, 0)
	call("settimeofday", unix.SYS_SETTIMEOFDAY, 0, 0, 0, 0)
	call("reboot", unix.SYS_REBOOT, 0, 0, 0, 0)
	call("chroot", unix.SYS_CHROOT, n, 0, 0, 0)
	out["mknod block"] = result(unix.Mknod("/tmp/blk", unix.S_IFBLK|0o600, 0x0800))
}
