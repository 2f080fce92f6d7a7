// Package killpoint makes this process wait at a named point, so that a test can kill it exactly there. It does
// nothing unless the environment variable Env is set.
package killpoint

import (
	"net"
	"os"
	"strings"
)

// Env names the environment variable that a test sets. It holds the path of the test's unix socket, a space, and a
// prefix of the names of the points at which to wait.
const Env = "COMPANY_KILL_POINT"

var socket, prefix, _ = strings.Cut(os.Getenv(Env), " ")

// Hit is a point at which the process can be made to wait. If its name has the prefix, Hit connects to the test's
// socket and returns when the test closes the connection.
func Hit(name string) {
	if socket == "" || !strings.HasPrefix(name, prefix) {
		return
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return // the test has ended its kill point
	}
	defer conn.Close()
	_, _ = conn.Read(make([]byte, 1))
}
