package toolserver

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"company/internal/toolproto"
)

// Gate lays out the tree that comes as a plain tar on stdin and becomes the
// command: the container's exit code is the command's own, which the daemon
// reports and nothing in here can change afterwards. It only returns, with an
// exit code, when that did not work. toolproto.CommandBegins on stderr tells the
// two apart: it is the last that the toolbox does before it becomes the command.
func Gate(settings Settings, argv []string, stdin io.Reader, log *slog.Logger) int {
	if len(argv) == 0 {
		log.Error("gate needs a command: toolbox gate -- sh -c …")
		return ExitUsage
	}
	if err := os.MkdirAll(settings.Workspace, 0o755); err != nil {
		log.Error("make the workspace", "err", err)
		return ExitTree
	}
	if err := extractTree(settings.Workspace, stdin); err != nil {
		log.Error("lay out the tree", "err", err)
		return ExitTree
	}
	env := buildEnv(os.Environ())
	started := newChildren()
	beside, err := readServices(settings.Services, started, env)
	if err != nil {
		log.Error("find the services", "err", err)
		return ExitTree
	}
	env = beside.addEnv(env)
	if err := seedCache(settings.GoCache, lookupVar(env, "GOCACHE")); err != nil {
		log.Warn("seed the build cache", "err", err)
	}
	if _, err := makeReady(context.Background(), started, settings.Ready, settings.Workspace, env); err != nil {
		log.Error("link the image's dependencies", "err", err)
		return ExitTree
	}
	if err := beside.ensureRunning(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return toolproto.ExitService
	}
	env = append(env, beside.describeEnded()...)
	argv = beside.wrapGate(argv)
	if err := os.Chdir(settings.Workspace); err != nil {
		log.Error("enter the workspace", "err", err)
		return ExitTree
	}
	if dir, err := os.Getwd(); err == nil {
		env = append(env, "PWD="+dir)
	}
	// The command's stdin is closed, like every command's here.
	null, err := os.Open(os.DevNull)
	if err == nil {
		err = syscall.Dup3(int(null.Fd()), 0, 0)
	}
	if err != nil {
		log.Error("close standard input", "err", err)
		return ExitTree
	}
	if _, err := io.WriteString(os.Stderr, toolproto.CommandBegins); err != nil {
		return ExitTree
	}
	// A command that the image does not have is the command's own end.
	program, err := findProgram(argv[0], env)
	if err != nil {
		log.Error("find the command", "err", err)
		return ExitNotFound
	}
	err = syscall.Exec(program, argv, env)
	log.Error("execute the command", "command", argv[0], "err", err)
	if errors.Is(err, fs.ErrNotExist) {
		return ExitNotFound
	}
	return ExitNoExec
}

// extractTree writes files, folders and symlinks below dir, none of them through a
// symlink that leaves it, and reads stdin to its end. Whatever else is in the archive is an error: the
// host makes it from a checked git tree, which has nothing else.
func extractTree(dir string, stdin io.Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	in := &ending{r: stdin}
	archive := tar.NewReader(in)
	for {
		in.n = 0
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			// archive/tar takes a stream that stops between two entries for a
			// whole one. A gate must never run on a part of the tree.
			if in.n < trailer || in.last != [trailer]byte{} {
				return errors.New("the archive is cut short")
			}
			break
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := extractEntry(root, h, archive); err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
		// Skipped bytes are not counted to the next entry.
		if _, err := io.Copy(io.Discard, archive); err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
	}
	_, err = io.Copy(io.Discard, stdin)
	return err
}

// trailer is the two blocks of zeros at the end of every tar.
const trailer = 1024

// ending counts bytes and remembers the last ones.
type ending struct {
	r    io.Reader
	n    int64
	last [trailer]byte
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.n += int64(n)
	tail := p[max(0, n-trailer):n]
	copy(e.last[:], e.last[len(tail):])
	copy(e.last[trailer-len(tail):], tail)
	return n, err
}

func extractEntry(root *os.Root, h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // git archive's note of the commit
	}
	name := path.Clean(h.Name)
	if !filepath.IsLocal(name) || strings.ContainsRune(h.Name, 0) {
		return errors.New("outside the tree")
	}
	if name == "." {
		return nil
	}
	if parent := path.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeReg:
		// Git knows two modes; the owner may always read and write.
		mode := fs.FileMode(0o644)
		if h.Mode&0o100 != 0 {
			mode = 0o755
		}
		// O_EXCL: nothing is written twice, nor through a symlink.
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	case tar.TypeSymlink:
		// Wherever it points: a project's own base may hold such links, and
		// the host has refused new ones. Nothing is written through it, since
		// root follows none that leaves.
		return root.Symlink(h.Linkname, name)
	default:
		return fmt.Errorf("type %q does not belong into a tree", h.Typeflag)
	}
}
