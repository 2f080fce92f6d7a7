package api

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// isOwnPeer reports whether a process of this user, or of root, sent a request. A system
// that does not tell (it has no /proc/net/tcp) passes for one.
func isOwnPeer(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	peer, err1 := netip.ParseAddrPort(r.RemoteAddr)
	here, err2 := netip.ParseAddrPort(local.String())
	if errors.Join(err1, err2) != nil {
		return false
	}
	missing := 0
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				missing++
			}
			continue
		}
		user, found := findOwner(f, peer, here)
		_ = f.Close()
		if found {
			return user == 0 || user == os.Getuid()
		}
	}
	return missing == 2
}

// findOwner finds the user of a connection's other end in a table of the kernel, where that
// end is on this machine: local is its address there, remote ours. An end that was closed
// already has no user any more, and is not found.
func findOwner(table io.Reader, local, remote netip.AddrPort) (user int, found bool) {
	const established = "01"
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text()) // sl local_address rem_address st queues timer retransmits uid …
		if len(f) < 8 || f[3] != established || readTableAddr(f[1]) != unmapAddr(local) || readTableAddr(f[2]) != unmapAddr(remote) {
			continue
		}
		user, err := strconv.Atoi(f[7])
		return user, err == nil
	}
	return 0, false
}

// unmapAddr is an address as a table has it: an IPv4 address where it stands for one.
func unmapAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// readTableAddr reads an address of a table: groups of 32 bits in the machine's order, in
// hexadecimal, and the port. An address that cannot be read is the zero value.
func readTableAddr(text string) netip.AddrPort {
	groups, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(groups)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(b)%4 != 0 {
		return netip.AddrPort{}
	}
	for group := range slices.Chunk(b, 4) {
		binary.BigEndian.PutUint32(group, binary.NativeEndian.Uint32(group))
	}
	addr, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.AddrPort{}
	}
	return unmapAddr(netip.AddrPortFrom(addr, uint16(n)))
}
