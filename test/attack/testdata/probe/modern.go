//go:build !386

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func oldCalls() { tell("old", "is for the 386 build") }

// sockets (19, 20).
func sockets() {
	for name, s := range map[string][3]int{
		"unix":           {unix.AF_UNIX, unix.SOCK_STREAM, 0},
		"inet":           {unix.AF_INET, unix.SOCK_STREAM, 0},
		"raw":            {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		"raw6":           {unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6},
		"packet":         {unix.AF_PACKET, unix.SOCK_RAW, 0},
		"vsock":          {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"alg":            {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		"netlink audit":  {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT},
		"netlink filter": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER},
		"netlink uevent": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT},
		"bluetooth":      {unix.AF_BLUETOOTH, unix.SOCK_RAW, 0},
		"can":            {unix.AF_CAN, unix.SOCK_RAW, 1},
		"xdp":            {unix.AF_XDP, unix.SOCK_RAW, 0},
		"rds":            {unix.AF_RDS, unix.SOCK_SEQPACKET, 0},
		"tipc":           {unix.AF_TIPC, unix.SOCK_STREAM, 0},
		"smc":            {unix.AF_SMC, unix.SOCK_STREAM, 0},
		"kcm":            {unix.AF_KCM, unix.SOCK_DGRAM, 0},
	} {
		fd, err := unix.Socket(s[0], s[1], s[2])
		if err == nil {
			unix.Close(fd)
		}
		tell("socket "+name, err)
	}
}

// calls are made with arguments that do no harm where they are let through
// (11–14, 21, 35).
func calls() {
	var buf [256]byte
	p := uintptr(unsafe.Pointer(&buf))
	name := []byte("x\x00")
	n := uintptr(unsafe.Pointer(&name[0]))
	none := ^uintptr(0)
	call := func(what string, nr, a, b, c, d uintptr) {
		_, _, errno := unix.Syscall6(nr, a, b, c, d, 0, 0)
		tell("call "+what, error(errno))
	}
	call("getpid", unix.SYS_GETPID, 0, 0, 0, 0) // the positive control
	call("mount", unix.SYS_MOUNT, n, n, n, 0)
	call("umount", unix.SYS_UMOUNT2, n, 0, 0, 0)
	call("pivot_root", unix.SYS_PIVOT_ROOT, n, n, 0, 0)
	call("fsopen", unix.SYS_FSOPEN, n, 0, 0, 0)
	call("fsmount", unix.SYS_FSMOUNT, none, 0, 0, 0)
	call("open_tree", unix.SYS_OPEN_TREE, ^uintptr(99), n, 1, 0)
	call("move_mount", unix.SYS_MOVE_MOUNT, none, n, none, n)
	call("mount_setattr", unix.SYS_MOUNT_SETATTR, none, n, 0, p)
	call("chroot", unix.SYS_CHROOT, n, 0, 0, 0)
	call("unshare user", unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0, 0)
	call("unshare mount", unix.SYS_UNSHARE, unix.CLONE_NEWNS, 0, 0, 0)
	call("unshare net", unix.SYS_UNSHARE, unix.CLONE_NEWNET, 0, 0, 0)
	call("clone user", unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0)
	call("clone net", unix.SYS_CLONE, unix.CLONE_NEWNET|uintptr(unix.SIGCHLD), 0, 0, 0)
	call("clone3", unix.SYS_CLONE3, p, 88, 0, 0)
	call("setns", unix.SYS_SETNS, none, 0, 0, 0)
	call("ptrace attach 1", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1, 0, 0)
	call("ptrace seize 1", unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1, 0, 0)
	call("process_vm_readv", unix.SYS_PROCESS_VM_READV, 1, p, 1, p)
	call("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, 1, p, 1, p)
	call("pidfd_getfd", unix.SYS_PIDFD_GETFD, none, 0, 0, 0)
	call("kcmp", unix.SYS_KCMP, 1, 1, 0, 0)
	call("io_uring_setup", unix.SYS_IO_URING_SETUP, 1, p, 0, 0)
	call("io_uring_enter", unix.SYS_IO_URING_ENTER, none, 0, 0, 0)
	call("io_uring_register", unix.SYS_IO_URING_REGISTER, none, 0, 0, 0)
	call("bpf", unix.SYS_BPF, 0, p, 128, 0)
	call("perf_event_open", unix.SYS_PERF_EVENT_OPEN, p, 0, none, none)
	call("userfaultfd", unix.SYS_USERFAULTFD, 1, 0, 0, 0)
	call("keyctl", unix.SYS_KEYCTL, 0, 0, 0, 0)
	call("add_key", unix.SYS_ADD_KEY, n, n, n, 1)
	call("request_key", unix.SYS_REQUEST_KEY, n, n, 0, 0)
	call("init_module", unix.SYS_INIT_MODULE, p, 0, n, 0)
	call("finit_module", unix.SYS_FINIT_MODULE, none, n, 0, 0)
	call("delete_module", unix.SYS_DELETE_MODULE, n, 0, 0, 0)
	call("kexec_load", unix.SYS_KEXEC_LOAD, 0, 0, 0, 0)
	call("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, none, p, 0, 0)
	call("syslog", unix.SYS_SYSLOG, 10, 0, 0, 0)
	call("sethostname", unix.SYS_SETHOSTNAME, n, 1, 0, 0)
	call("setdomainname", unix.SYS_SETDOMAINNAME, n, 1, 0, 0)
	call("settimeofday", unix.SYS_SETTIMEOFDAY, 0, 0, 0, 0)
	call("clock_settime", unix.SYS_CLOCK_SETTIME, 0, p, 0, 0)
	call("reboot", unix.SYS_REBOOT, 0, 0, 0, 0)
	call("swapon", unix.SYS_SWAPON, n, 0, 0, 0)
	call("acct", unix.SYS_ACCT, 0, 0, 0, 0)
	call("quotactl", unix.SYS_QUOTACTL, 0, n, 0, p)
	call("vhangup", unix.SYS_VHANGUP, 0, 0, 0, 0)
	call("fanotify_init", unix.SYS_FANOTIFY_INIT, 0, 0, 0, 0)
	call("setuid 0", unix.SYS_SETUID, 0, 0, 0, 0)
	call("setgid 0", unix.SYS_SETGID, 0, 0, 0, 0)
	call("chown", unix.SYS_FCHOWNAT, none, n, 0, 0)
}
