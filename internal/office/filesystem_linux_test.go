package office

import (
	"strings"
	"testing"

	"company/internal/company"
)

// TestNetworkDisks: a file system of the network is told by the number of its type (statfs(2)), and refused with what
// to do. The disk of this test is accepted.
func TestNetworkDisks(t *testing.T) {
	for number, name := range map[uint32]string{0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x01021997: "9p"} {
		err := refuseNetwork("the state of the office", "/home/u/state", networkTypes[number],
			"set XDG_STATE_HOME")
		if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "/home/u/state") ||
			networkTypes[number] != name {
			t.Errorf("%#x: %q, %v", number, networkTypes[number], err)
		}
	}
	for _, local := range []uint32{0xef53, 0x9123683e, 0x58465342, 0x01021994} { // ext4, btrfs, xfs, tmpfs
		if networkTypes[local] != "" {
			t.Errorf("%#x counts as %s", local, networkTypes[local])
		}
	}
	if err := (Paths{State: t.TempDir()}).checkLocks(); err != nil {
		t.Error(err)
	}
}
