package office

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// maxSocketPath is the longest path that fits into a socket address on every Unix.
const maxSocketPath = 100

// SocketPath returns the default path of the socket of an office's holder. It is $XDG_RUNTIME_DIR/company-<hash>.sock,
// or /tmp/company-<uid>/<hash>.sock if that variable does not name a private folder of this user. The hash is of the
// office's state folder. Processes with different environments may disagree, so use Holder.Socket if there is a holder.
func SocketPath(p Paths, env func(string) (string, bool)) string {
	sum := sha256.Sum256([]byte(p.State))
	name := "company-" + hex.EncodeToString(sum[:8]) + ".sock"
	if dir, ok := env("XDG_RUNTIME_DIR"); ok && filepath.IsAbs(dir) && len(dir)+1+len(name) <= maxSocketPath &&
		requirePrivateDir(dir) == nil {
		return filepath.Join(dir, name)
	}
	return filepath.Join("/tmp", "company-"+strconv.Itoa(os.Geteuid()), name)
}

// requirePrivateDir refuses a folder that other users own or can access.
func requirePrivateDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir(): // IsDir is false for a symbolic link
		return fmt.Errorf("%s is not a folder", dir)
	case !safedir.OwnedByUs(info):
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others (mode %04o)", dir, info.Mode().Perm())
	}
	return nil
}

func socketError(path string, err error) error {
	return company.E(company.EConfig, "the office cannot be reached through "+path).Wrap(err).
		Fix("set XDG_RUNTIME_DIR to your own folder with mode 0700")
}

// ListenSocket opens the office's socket with mode 0600. The caller must hold the lock: a socket at the path then
// belongs to a dead process, and is removed. Close the listener before releasing the lock. The holder's description in
// the lock file names the path from then on. If a logout removes the socket with XDG_RUNTIME_DIR, it is opened again
// within socketLookEvery.
func ListenSocket(l *Lock, env func(string) (string, bool)) (net.Listener, error) {
	listener := &socketListener{lock: l, env: env, done: make(chan struct{})}
	if err := listener.open(); err != nil {
		return nil, err
	}
	listener.watch.Go(listener.keepReachable)
	return listener, nil
}

// boundSocket is an open socket, with its file as created.
type boundSocket struct {
	*net.UnixListener
	path string
	made fs.FileInfo
}

// isThere reports whether the file at the path is still this socket.
func (b boundSocket) isThere() bool {
	there, err := os.Lstat(b.path)
	return err == nil && os.SameFile(there, b.made)
}

// bindSocket opens the socket and records its path in the lock file.
func bindSocket(lock *Lock, env func(string) (string, bool)) (bound boundSocket, err error) {
	lock.mu.Lock()
	defer lock.mu.Unlock()
	path := SocketPath(lock.paths, env)
	if lock.file == nil {
		return bound, company.E(company.EInternal, "the socket was requested without the lock")
	}
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return bound, socketError(path, err)
	}
	if err := requirePrivateDir(dir); err != nil {
		return bound, socketError(path, err)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return bound, socketError(path, errors.New("a file that is not a socket is there"))
		}
		if err := os.Remove(path); err != nil {
			return bound, socketError(path, err)
		}
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return bound, socketError(path, err)
	}
	// Until here only the folder's permissions keep others out.
	var made fs.FileInfo
	if err = os.Chmod(path, 0o600); err == nil {
		made, err = os.Lstat(path)
	}
	if err == nil {
		lock.who.Socket = path
		err = lock.writeHolder()
	}
	if err != nil {
		_ = ln.Close()
		return bound, socketError(path, err)
	}
	return boundSocket{ln, path, made}, nil
}

// Accepts reports whether a process accepts connections at a socket. It may still not answer requests.
func Accepts(path string) bool {
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// DialSocket connects to the holder of an office. The socket must be in a private folder of this user.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	if err := requirePrivateDir(filepath.Dir(path)); err != nil {
		return nil, socketError(path, err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, company.E(company.EHeld, "the office's holder does not answer at "+path).Wrap(err).
			Fix("wait for it to end, or end it")
	}
	return conn, nil
}
