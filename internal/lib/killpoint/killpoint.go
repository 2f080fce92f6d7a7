// Package killpoint lets a test stop this process at a moment that it names, to kill it there. Without the environment
// variable it does nothing.
package killpoint

import (
	"io"
	"net"
	"os"
	"strings"
)

// Env is the environment variable with the path of the test's unix socket, a space, and the beginning of the names of
// the moments to stop at.
const Env = "COMPANY_KILL_POINT"

var socket, begins, _ = strings.Cut(os.Getenv(Env), " ")

// Hit marks a moment. If the test wants it, Hit sends the name over a connection of its own and returns when the test
// closes that.
func Hit(name string) {
	if socket == "" || !strings.HasPrefix(name, begins) {
		return
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return // the test waits no more
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, name+"\n")
	_, _ = conn.Read(make([]byte, 1))
}
