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

	"company/internal/company"
	"company/internal/folder"
)

// maxSocketPath is what fits into a socket address on every Unix.
const maxSocketPath = 100

// SocketPath is where the holder of an office answers:
// $XDG_RUNTIME_DIR/company-<hash>.sock, or /tmp/company-<uid>/<hash>.sock where
// that variable does not name a private folder of ours. The hash is the
// office's path's. Processes with different environments may disagree, so ask
// Holder.Socket where there is a holder.
func SocketPath(p Paths, env func(string) (string, bool)) string {
	sum := sha256.Sum256([]byte(p.Root))
	name := "company-" + hex.EncodeToString(sum[:8]) + ".sock"
	if dir, ok := env("XDG_RUNTIME_DIR"); ok && filepath.IsAbs(dir) && len(dir)+1+len(name) <= maxSocketPath && requirePrivateDir(dir) == nil {
		return filepath.Join(dir, name)
	}
	return filepath.Join("/tmp", "company-"+strconv.Itoa(os.Geteuid()), name)
}

// requirePrivateDir refuses a folder that is not ours alone.
func requirePrivateDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir(): // a symbolic link is none
		return fmt.Errorf("%s is not a folder", dir)
	case !folder.OwnedByUs(info):
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others (mode %04o)", dir, info.Mode().Perm())
	}
	return nil
}

func socketError(path string, err error) error {
	return company.E(company.EConfig, "the office cannot be reached through "+path).Wrap(err).
		Fix("set XDG_RUNTIME_DIR to a folder of yours with mode 0700")
}

// ListenSocket opens the office's socket, mode 0600. Only the lock's holder
// may: a socket at the path is then a dead process's, and is removed. Close the
// listener before the lock is released. The holder's signature in the lock file
// names the path from then on. A socket that a logout takes away with
// XDG_RUNTIME_DIR is opened anew within socketLookEvery.
func ListenSocket(l *Lock, env func(string) (string, bool)) (net.Listener, error) {
	s := &socketListener{lock: l, env: env, done: make(chan struct{})}
	if err := s.open(); err != nil {
		return nil, err
	}
	s.watch.Go(s.keepReachable)
	return s, nil
}

// boundSocket is a socket as it was made.
type boundSocket struct {
	*net.UnixListener
	path string
	made fs.FileInfo
}

// isThere says whether it is still what others find at its path.
func (b boundSocket) isThere() bool {
	there, err := os.Lstat(b.path)
	return err == nil && os.SameFile(there, b.made)
}

// bindSocket makes the socket and has the lock's file name it.
func bindSocket(l *Lock, env func(string) (string, bool)) (bound boundSocket, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := SocketPath(l.paths, env)
	if l.file == nil {
		return bound, company.E(company.EInternal, "the socket was asked for without the lock")
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
			return bound, socketError(path, errors.New("something that is no socket is there"))
		}
		if err := os.Remove(path); err != nil {
			return bound, socketError(path, err)
		}
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return bound, socketError(path, err)
	}
	// Until here the folder alone keeps others out.
	var made fs.FileInfo
	if err = os.Chmod(path, 0o600); err == nil {
		made, err = os.Lstat(path)
	}
	if err == nil {
		l.who.Socket = path
		err = l.writeHolder()
	}
	if err != nil {
		_ = ln.Close()
		return bound, socketError(path, err)
	}
	return boundSocket{ln, path, made}, nil
}

// DialSocket connects to the holder of an office, over a path of a folder that
// is ours alone.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	if err := requirePrivateDir(filepath.Dir(path)); err != nil {
		return nil, socketError(path, err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, company.E(company.EHeld, "the office's holder does not answer at "+path).Wrap(err).Fix("wait for it to end, or end it")
	}
	return conn, nil
}
