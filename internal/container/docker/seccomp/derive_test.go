package seccomp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// removed are the calls that no rule may allow.
var removed = []string{
	"socket", "socketcall", // back below, by address family
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	"userfaultfd",
	"add_key", "keyctl", "request_key",
	// The toolbox shares the uid of what it starts.
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
}

// derive makes our profile from moby's:
//   - no sub-architectures: 32-bit and x32 calls match nothing;
//   - no rule that depends on a capability: our containers have none, and
//     getting one must not widen the filter. The answer ENOSYS to clone3
//     stays, since a libc falls back to clone on it;
//   - the calls of removed are gone;
//   - socket is allowed for UNIX, INET, INET6, and NETLINK with protocol 0
//     (routes: libc and Go read interfaces by it). VSOCK reaches the
//     hypervisor, ALG and PACKET the kernel's rarely used code.
func derive(moby []byte) ([]byte, error) {
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
