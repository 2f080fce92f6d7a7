package remotetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/lib/hosttest"
	"company/test/safebuffer"
)

// SSHD is a real sshd on the loopback interface that accepts one key.
type SSHD struct {
	Host string // 127.0.0.1:<port>
	User string // the login: the user that runs the test
	Key  string // file of the accepted private key
	dir  string

	cmd *exec.Cmd
	log *safebuffer.Buffer
}

// NewSSHD starts the server. It needs Debian's openssh-server or an equivalent.
func NewSSHD(t testing.TB) *SSHD {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	sshd := &SSHD{dir: t.TempDir(), User: u.Username}
	sshd.Key = sshd.NewKey(t, "client")
	sshd.NewKey(t, "host")
	// Another process may take the port meanwhile.
	sshd.Start(t)
	t.Cleanup(sshd.Stop)
	return sshd
}

// NewKey creates a key pair and returns the path of the private key.
func (s *SSHD) NewKey(t testing.TB, name string) string {
	t.Helper()
	p := filepath.Join(s.dir, name)
	_ = os.Remove(p)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f",
		p).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	return p
}

// NewHostKey replaces the server's host key, at the same address.
func (s *SSHD) NewHostKey(t testing.TB) {
	t.Helper()
	s.Stop()
	s.NewKey(t, "host")
	s.Start(t)
}

// URL returns the ssh address of a folder.
func (s *SSHD) URL(dir string) string { return "ssh://" + s.User + "@" + s.Host + dir }

// Repository creates a bare repository from main at from. It returns its folder and its address.
func (s *SSHD) Repository(t testing.TB, from string) (dir, url string) {
	t.Helper()
	dir = filepath.Join(s.dir, "app.git")
	cloneBare(t, from, dir)
	return dir, s.URL(dir)
}

// Log returns the server's log so far.
func (s *SSHD) Log() string { return s.log.String() }

// Start starts the server, at its previous address if it has one.
func (s *SSHD) Start(t testing.TB) {
	t.Helper()
	sshd := "/usr/sbin/sshd" // it refuses to be started without its full path
	if _, err := os.Stat(sshd); err != nil {
		t.Fatalf("no sshd: apt-get install openssh-server, or run scripts/setup.sh (%v)", err)
	}
	if os.Geteuid() == 0 {
		// The package contains this folder, but it is missing on systems without init.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if s.Host == "" {
		s.Host = "127.0.0.1:" + strconv.Itoa(FreePort(t))
	}
	_, port, _ := net.SplitHostPort(s.Host)
	config := filepath.Join(s.dir, "sshd_config")
	// The user's shell reads its start files from HOME, and they may take longer than the test.
	text := fmt.Sprintf(`Port %s
ListenAddress 127.0.0.1
HostKey %q
PidFile none
AuthorizedKeysFile %q
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
LogLevel VERBOSE
MaxStartups 100
SetEnv HOME=/nonexistent
`, port, filepath.Join(s.dir, "host"), filepath.Join(s.dir, "client.pub"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.log = &safebuffer.Buffer{}
	s.cmd = exec.Command(sshd, "-D", "-e", "-f", config)
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	hosttest.Eventually(t, "sshd answers", func() (any, bool) {
		conn, err := net.DialTimeout("tcp", s.Host, time.Minute)
		if err == nil {
			_ = conn.Close()
		}
		return strings.TrimSpace(s.log.String()), err == nil
	})
}

// Stop ends the server.
func (s *SSHD) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}
