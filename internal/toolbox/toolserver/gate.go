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

	"company/internal/toolbox/toolproto"
)

// Gate extracts a plain tar from stdin and then becomes the command. So the container's exit code is the command's
// own: the daemon reports it, and the container cannot change it afterwards. Gate only returns if that failed, with an
// exit code. The two cases differ by toolproto.CommandBegins on stderr, which is the last output of the toolbox before
// it becomes the command.
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
	if err := makeReady(context.Background(), started, settings.Ready, settings.Workspace, env); err != nil {
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
	// Stdin is closed, as for every command here.
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
	// A command that is missing in the image counts as a failed command.
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

// extractTree writes files, folders and symlinks below dir, and reads stdin to its end. It never writes through a
// symlink that leaves dir. Any other type of entry is an error: the host makes the archive from a checked git tree,
// which has no others.
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
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			// archive/tar accepts a stream that stops between two entries. A gate must never run on a part of the tree.
			if in.n < trailer || in.last != [trailer]byte{} {
				return errors.New("the archive is truncated")
			}
			break
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := extractEntry(root, header, archive); err != nil {
			return fmt.Errorf("entry %q: %w", header.Name, err)
		}
		// Do not count skipped bytes towards the next entry.
		if _, err := io.Copy(io.Discard, archive); err != nil {
			return fmt.Errorf("entry %q: %w", header.Name, err)
		}
	}
	_, err = io.Copy(io.Discard, stdin)
	return err
}

// trailer is the size of the two zero blocks at the end of every tar.
const trailer = 1024

// ending counts bytes and keeps the last ones.
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

func extractEntry(root *os.Root, header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil // commit id added by git archive
	}
	name := path.Clean(header.Name)
	if !filepath.IsLocal(name) || strings.ContainsRune(header.Name, 0) {
		return errors.New("outside of the tree")
	}
	if name == "." {
		return nil
	}
	if parent := path.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeReg:
		// Git has two modes. The owner may always read and write.
		mode := fs.FileMode(0o644)
		if header.Mode&0o100 != 0 {
			mode = 0o755
		}
		// O_EXCL prevents writing a file twice or through a symlink.
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	case tar.TypeSymlink:
		// The target may be anywhere: a project's base may contain such links, and the host has refused new ones. Writes
		// never follow it, because root refuses links that leave it.
		return root.Symlink(header.Linkname, name)
	default:
		return fmt.Errorf("type %q is not allowed in a tree", header.Typeflag)
	}
}
