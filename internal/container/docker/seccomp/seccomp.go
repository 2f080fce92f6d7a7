// Package seccomp holds the system-call filter of our containers and how it
// was derived. It promises that profile.json is exactly Derive of moby.json;
// it does not load filters, the daemon does.
//
// moby.json is the default profile of the Docker engine, unchanged, from the
// module github.com/moby/profiles/seccomp v0.2.3 (Copyright the moby authors,
// Apache License 2.0, see LICENSE.moby). profile.json is a modified version of
// it under the same licence; Derive is the list of the changes. To renew:
//
//	cp "$(go mod download -json github.com/moby/profiles/seccomp@latest | jq -r .Dir)"/default.json moby.json
//	go generate
package seccomp

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:generate go run ./gen

//go:embed profile.json
var profile []byte

// Profile is the filter in the daemon's JSON form, on one line.
func Profile() string {
	var b bytes.Buffer
	if err := json.Compact(&b, profile); err != nil {
		panic(err) // the embedded file is checked by a test
	}
	return b.String()
}

// Preparation is Profile for build containers, where tools of packages run as
// root. It allows no more. It refuses a connection to the kernel's audit with
// the error of a kernel without one: tools that add users go on then, and end
// over any other refusal.
func Preparation() string {
	var d document
	if err := json.Unmarshal(profile, &d); err != nil {
		panic(err) // the embedded file is checked by a test
	}
	unsupported := uint(93) // EPROTONOSUPPORT
	d.Syscalls = append(d.Syscalls, rule{
		Names: []string{"socket"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: &unsupported,
		Args: []argument{{Index: 0, Value: afNetlink, Op: "SCMP_CMP_EQ"}, {Index: 2, Value: netlinkAudit, Op: "SCMP_CMP_EQ"}},
	})
	out, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(out)
}

type document struct {
	DefaultAction   string         `json:"defaultAction"`
	DefaultErrnoRet *uint          `json:"defaultErrnoRet,omitempty"`
	ArchMap         []architecture `json:"archMap"`
	Syscalls        []rule         `json:"syscalls"`
}

type architecture struct {
	Architecture     string   `json:"architecture"`
	SubArchitectures []string `json:"subArchitectures"`
}

type rule struct {
	Names    []string   `json:"names"`
	Action   string     `json:"action"`
	ErrnoRet *uint      `json:"errnoRet,omitempty"`
	Args     []argument `json:"args,omitempty"`
	Comment  string     `json:"comment,omitempty"`
	Includes *condition `json:"includes,omitempty"`
	Excludes *condition `json:"excludes,omitempty"`
}

type argument struct {
	Index    uint   `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo,omitempty"`
	Op       string `json:"op"`
}

type condition struct {
	Caps      []string `json:"caps,omitempty"`
	Arches    []string `json:"arches,omitempty"`
	MinKernel string   `json:"minKernel,omitempty"`
}

// removed are the calls that no rule may allow.
var removed = []string{
	"socket", "socketcall", // back below, by address family
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	"userfaultfd",
	"add_key", "keyctl", "request_key",
	// The toolbox shares the uid of what it starts.
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
}

// Address families of socket(2) that stay.
const (
	afUnix    = 1
	afInet    = 2
	afInet6   = 10
	afNetlink = 16

	netlinkAudit = 9 // protocol
)

// Derive makes our profile from moby's:
//   - no sub-architectures: 32-bit and x32 calls match nothing;
//   - no rule that depends on a capability: our containers have none, and
//     getting one must not widen the filter. The answer ENOSYS to clone3
//     stays, since a libc falls back to clone on it;
//   - the calls of removed are gone;
//   - socket is allowed for UNIX, INET, INET6, and NETLINK with protocol 0
//     (routes: libc and Go read interfaces by it). VSOCK reaches the
//     hypervisor, ALG and PACKET the kernel's rarely used code.
func Derive(moby []byte) ([]byte, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(moby))
	dec.DisallowUnknownFields() // a new kind of condition must be read by a person first
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("read moby's profile: %w", err)
	}
	if d.DefaultAction != "SCMP_ACT_ERRNO" {
		return nil, fmt.Errorf("moby's profile does not deny by default: %s", d.DefaultAction)
	}
	for i := range d.ArchMap {
		d.ArchMap[i].SubArchitectures = []string{}
	}

	var rules []rule
	for _, r := range d.Syscalls {
		if r.Includes != nil && len(r.Includes.Caps) > 0 {
			continue
		}
		r.Names = slices.DeleteFunc(r.Names, func(n string) bool {
			return slices.Contains(removed, n) || strings.HasPrefix(n, "io_uring_")
		})
		if len(r.Names) > 0 {
			rules = append(rules, r)
		}
	}
	for _, family := range []uint64{afUnix, afInet, afInet6} {
		rules = append(rules, rule{
			Names:  []string{"socket"},
			Action: "SCMP_ACT_ALLOW",
			Args:   []argument{{Index: 0, Value: family, Op: "SCMP_CMP_EQ"}},
		})
	}
	rules = append(rules, rule{
		Names:  []string{"socket"},
		Action: "SCMP_ACT_ALLOW",
		Args: []argument{
			{Index: 0, Value: afNetlink, Op: "SCMP_CMP_EQ"},
			{Index: 2, Value: 0, Op: "SCMP_CMP_EQ"},
		},
	})
	d.Syscalls = rules

	out, err := json.MarshalIndent(d, "", "\t")
	return append(out, '\n'), err
}
