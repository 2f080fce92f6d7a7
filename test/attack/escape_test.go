package attack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// judgeProbe holds what the kernel answered against what it must answer.
func judgeProbe(t *testing.T, out string) {
	got := map[string][]string{}
	for line := range strings.Lines(out) {
		name, result, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok {
			got[name] = append(got[name], result)
		}
	}
	if !slices.Equal(got["done"], []string{"ok"}) {
		t.Fatalf("the probe did not come to its end:\n%s", out)
	}
	want := func(name string, allowed ...string) {
		t.Helper()
		if len(got[name]) != 1 || !slices.Contains(allowed, got[name][0]) {
			t.Errorf("%s: %q, want %q", name, got[name], allowed)
		}
	}
	ids := "65532,65532,65532,65532"
	want("Uid", ids)
	want("Gid", ids)
	want("Groups", "65532", "")
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		want(set, "0000000000000000")
	}
	want("NoNewPrivs", "1")
	want("Seccomp", "2")
	want("setuid", ids, "none")
	if len(got["process"]) < 2 {
		t.Errorf("processes: %q", got["process"])
	}
	for _, p := range got["process"] {
		f := strings.SplitN(p, ",", 3) // number, parent, name
		if f[0] == "1" && f[2] != "toolbox" || f[1] == "0" && f[0] != "1" ||
			!slices.Contains([]string{"toolbox", "bash", "p", "su", "git"}, f[2]) {
			t.Errorf("a foreign process: %s", p)
		}
	}
	refused := []string{"EPERM", "EACCES", "EROFS", "ENOENT", "ENXIO"}
	seen := map[string]int{}
	for name, results := range got {
		kind, what, _ := strings.Cut(name, "_")
		seen[kind]++
		switch kind {
		case "pid1":
			want(name, "EACCES", "EPERM")
		case "write":
			if slices.ContainsFunc([]string{"/work/", "/tmp/", "/home/agent/", "/dev/shm/"},
				func(d string) bool { return strings.HasPrefix(what, d) }) {
				want(name, "ok")
			} else {
				want(name, refused...)
			}
		case "mkdir", "mknod":
			want(name, refused...)
		case "read":
			want(name, append(refused, "empty", "EINVAL")...)
		case "there":
			want(name, "ENOENT", "EACCES")
		case "tcp":
			switch {
			case what == "gateway":
				want(name, "ok")
			case strings.HasPrefix(what, "127.0.0.1:"):
				want(name, "ECONNREFUSED") // its own loopback: nobody is there
			default:
				want(name, "ENETUNREACH", "EADDRNOTAVAIL")
			}
		case "udp":
			want(name, "ENETUNREACH")
		case "socket":
			if what == "unix" || what == "inet" {
				want(name, "ok")
			} else {
				want(name, "EPERM")
			}
		case "call":
			switch what {
			case "getpid":
				want(name, "ok")
			case "clone3":
				want(name, "ENOSYS")
			case "setuid_0", "setgid_0":
				want(name, "EPERM")
			case "chown":
				want(name, "EPERM", "EBADF", "ENOENT")
			default:
				want(name, "EPERM", "ENOSYS")
			}
		case "device":
			for _, d := range results {
				if !slices.Contains(
					[]string{"core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout",
						"tty", "urandom", "zero"}, d) {
					t.Errorf("a device: %s", d)
				}
			}
		case "mount":
			for _, m := range results {
				judgeMount(t, m)
			}
		}
	}
	if seen["call"] < 40 || seen["socket"] < 15 || seen["write"] < 30 || seen["tcp"] < 9 || seen["pid1"] < 10 ||
		len(got["mount"]) < 10 {
		t.Errorf("too little was tried: %v", seen)
	}
	want("dns", "refused")
	want("resolv", "nameserver 127.0.0.1")
	want("interface", "lo")
	want("listen_gateway", "EADDRINUSE")
	want("listen_gateway_again", "EADDRINUSE")
}

// judgeMount: file systems of the container's own, and the three files that
// the daemon writes (23).
func judgeMount(t *testing.T, line string) {
	f := strings.SplitN(line, " ", 3)
	opts := strings.Split(f[2], ",")
	switch point, kind := f[0], f[1]; {
	case slices.Contains([]string{"/work", "/tmp", "/home/agent"}, point):
		if kind != "tmpfs" || !slices.Contains(opts, "nosuid") || !slices.Contains(opts, "nodev") {
			t.Errorf("work space: %s", line)
		}
	case slices.Contains([]string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}, point), point == "/":
		if !slices.Contains(opts, "ro") {
			t.Errorf("writable: %s", line)
		}
	case !slices.Contains([]string{"proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2"}, kind):
		t.Errorf("a foreign mount: %s", line)
	}
}

func judgeInner(t *testing.T, out, secret string) {
	got := readTries(out)
	if _, leak := got["leak"]; leak {
		t.Errorf("a child inherits descriptors:\n%s", out)
	}
	if got["cwd"].words != "/work/repo" || got["stdin"].words != "/dev/null" {
		t.Errorf("cwd %q, stdin %q", got["cwd"].words, got["stdin"].words)
	}
	if env := got["env"].words; !strings.Contains(env, "HOME=/home/agent") || strings.Contains(env, secret) ||
		strings.Contains(env, keyCanary) {
		t.Errorf("environment: %s", env)
	}
	if e, found := got["environ"]; found {
		t.Errorf("in an environment: %+v", e)
	}
	// The scripts themselves name what is looked for; nothing else may.
	if g, ok := got["grep"]; !ok || g.words != "" {
		t.Errorf("files with a secret: %q", g.words)
	}
}

// judgePolicy: CTR-7, CTR-8 and the whole policy, as the daemon reports it.
func judgePolicy(t *testing.T, text string) {
	var all []struct {
		Mounts []any
		Config struct {
			User       string
			Tty        bool
			Env        []string
			Volumes    map[string]any
			Labels     map[string]string
			Entrypoint []string
		}
		HostConfig      map[string]any
		NetworkSettings struct {
			IPAddress, Gateway string
			Networks           map[string]struct{ IPAddress string }
		}
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) == 0 {
		t.Fatalf("docker inspect: %v\n%s", err, text)
	}
	for _, c := range all {
		host := c.HostConfig
		for _, field := range []string{
			"Privileged", "CapAdd", "Binds", "Mounts", "VolumesFrom", "Devices", "DeviceRequests", "DeviceCgroupRules",
			"Sysctls", "GroupAdd", "ExtraHosts", "Links",
			"PortBindings", "PublishAllPorts", "PidMode", "UTSMode", "UsernsMode", "OomKillDisable", "AutoRemove",
		} {
			switch v := host[field].(type) {
			case nil:
			case bool:
				if v {
					t.Errorf("%s is set", field)
				}
			case string:
				if v != "" {
					t.Errorf("%s: %q", field, v)
				}
			case []any:
				if len(v) > 0 {
					t.Errorf("%s: %v", field, v)
				}
			case map[string]any:
				if len(v) > 0 {
					t.Errorf("%s: %v", field, v)
				}
			default:
				t.Errorf("%s: %v", field, v)
			}
		}
		for field, want := range map[string]any{
			"NetworkMode": "none", "ReadonlyRootfs": true, "IpcMode": "private", "CgroupnsMode": "private",
			"Memory": float64(1536 << 20), "MemorySwap": float64(1536 << 20), "PidsLimit": float64(512),
		} {
			if host[field] != want {
				t.Errorf("%s: %v, want %v", field, host[field], want)
			}
		}
		if fmt.Sprint(host["CapDrop"]) != "[ALL]" || fmt.Sprint(host["Dns"]) != "[127.0.0.1]" {
			t.Errorf("CapDrop %v, Dns %v", host["CapDrop"], host["Dns"])
		}
		security := fmt.Sprint(host["SecurityOpt"])
		if !strings.Contains(security, "no-new-privileges") || !strings.Contains(security, "seccomp={") ||
			strings.Contains(security, "unconfined") {
			t.Errorf("SecurityOpt: %.200s", security)
		}
		if len(c.Mounts) > 0 || len(c.Config.Volumes) > 0 || c.Config.Tty || c.Config.User != "65532:65532" {
			t.Errorf("mounts %v, volumes %v, tty %v, user %q", c.Mounts, c.Config.Volumes, c.Config.Tty, c.Config.User)
		}
		if c.NetworkSettings.IPAddress != "" || c.NetworkSettings.Gateway != "" {
			t.Errorf("an address: %+v", c.NetworkSettings)
		}
		for name, n := range c.NetworkSettings.Networks {
			if name != "none" || n.IPAddress != "" {
				t.Errorf("network %s: %+v", name, n)
			}
		}
		for _, label := range []string{"company.office", "company.run", "company.epoch", "company.role"} {
			if c.Config.Labels[label] == "" {
				t.Errorf("labels: %v", c.Config.Labels)
			}
		}
	}
}
