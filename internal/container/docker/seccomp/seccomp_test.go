package seccomp

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "write profile.json again")

func TestProfileIsDerived(t *testing.T) {
	moby, err := os.ReadFile("moby.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := derive(moby)
	if err != nil {
		t.Fatal(err)
	}
	if *write {
		if err := os.WriteFile("profile.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("profile.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Fatal("profile.json is not what derive makes of moby.json: run it with -write")
	}
}

// TestProfileRules reads the embedded file with its own eyes: what derive
// forgets, this must see.
func TestProfileRules(t *testing.T) {
	var d document
	if err := json.Unmarshal([]byte(Profile()), &d); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(Profile(), "\n\t") {
		t.Error("the profile is not on one line")
	}
	if d.DefaultAction != "SCMP_ACT_ERRNO" || d.DefaultErrnoRet == nil || *d.DefaultErrnoRet != 1 {
		t.Errorf("default: %s %v, want EPERM", d.DefaultAction, d.DefaultErrnoRet)
	}
	for _, a := range d.ArchMap {
		if len(a.SubArchitectures) != 0 {
			t.Errorf("%s has sub-architectures %v", a.Architecture, a.SubArchitectures)
		}
	}
	families := map[uint64]bool{}
	clone3 := false
	for _, r := range d.Syscalls {
		for _, n := range r.Names {
			switch {
			case n == "socket":
				if len(r.Args) == 0 || r.Args[0].Index != 0 || r.Args[0].Op != "SCMP_CMP_EQ" {
					t.Errorf("socket is allowed by %+v", r)
					continue
				}
				families[r.Args[0].Value] = true
				if r.Args[0].Value == afNetlink && (len(r.Args) != 2 || r.Args[1] != (argument{Index: 2, Op: "SCMP_CMP_EQ"})) {
					t.Errorf("netlink is allowed by %+v", r)
				}
			case n == "clone3":
				clone3 = r.Action == "SCMP_ACT_ERRNO" && r.ErrnoRet != nil && *r.ErrnoRet == 38
			case r.Action == "SCMP_ACT_ALLOW" && slices.Contains([]string{
				"socketcall", "io_uring_setup", "userfaultfd", "keyctl", "bpf", "mount", "unshare", "setns",
				"ptrace", "perf_event_open", "open_by_handle_at", "kexec_load", "init_module", "reboot",
			}, n):
				t.Errorf("%s is allowed by %+v", n, r)
			}
		}
		if r.Includes != nil && len(r.Includes.Caps) > 0 {
			t.Errorf("a rule depends on capabilities: %+v", r)
		}
	}
	if len(families) != 4 || !families[afUnix] || !families[afInet] || !families[afInet6] || !families[afNetlink] {
		t.Errorf("socket families %v, want 1, 2, 10, 16", families)
	}
	if !clone3 {
		t.Error("clone3 does not answer ENOSYS")
	}
}

// The profile of preparation is the other one and one refusal more.
func TestPreparation(t *testing.T) {
	var all, d document
	if err := json.Unmarshal([]byte(Profile()), &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(Preparation()), &d); err != nil {
		t.Fatal(err)
	}
	last := d.Syscalls[len(d.Syscalls)-1]
	d.Syscalls = d.Syscalls[:len(d.Syscalls)-1]
	if !reflect.DeepEqual(all, d) || last.Action != "SCMP_ACT_ERRNO" {
		t.Errorf("more than a refusal was added: %+v", last)
	}
}

func TestDeriveRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"not JSON":          `{`,
		"allows by default": `{"defaultAction":"SCMP_ACT_ALLOW","archMap":[],"syscalls":[]}`,
		"unknown condition": `{"defaultAction":"SCMP_ACT_ERRNO","archMap":[],"syscalls":[{"names":["x"],"action":"SCMP_ACT_ALLOW","unless":{}}]}`,
	} {
		if _, err := derive([]byte(in)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
