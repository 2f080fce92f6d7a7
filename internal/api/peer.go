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

// isOwnPeer reports whether a process of this user or of root sent a request. It is true on
// systems without /proc/net/tcp.
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
		file, err := os.Open(name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				missing++
			}
			continue
		}
		user, found := findOwner(file, peer, here)
		_ = file.Close()
		if found {
			return user == 0 || user == os.Getuid()
		}
	}
	return missing == 2
}

// findOwner returns the user of a local connection's other end, from a table of the kernel. local
// is the address of that end, remote is ours. It does not find an end that is closed, because it
// has no user.
func findOwner(table io.Reader, local, remote netip.AddrPort) (user int, found bool) {
	const established = "01"
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text()) // sl local_address rem_address st queues timer retransmits uid …
		if len(f) < 8 || f[3] != established || readTableAddr(f[1]) != unmapAddr(local) ||
			readTableAddr(f[2]) != unmapAddr(remote) {
			continue
		}
		user, err := strconv.Atoi(f[7])
		return user, err == nil
	}
	return 0, false
}

// unmapAddr returns an address in the form of the table, with mapped IPv4 addresses as IPv4.
func unmapAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// readTableAddr parses an address of the table: hexadecimal groups of 32 bits in the machine's
// byte order, and the port. It returns the zero value for an invalid address.
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
