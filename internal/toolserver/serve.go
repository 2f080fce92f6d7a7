//go:build linux

package toolserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"company/internal/mux"
	"company/internal/toolproto"
)

// Exit codes of the binary. Nothing but people and tests look at them.
const (
	ExitOK       = 0   // the host asked for the end
	ExitFault    = 1   // the toolbox cannot work here
	ExitLink     = 3   // the link to the host is gone
	ExitDeadMan  = 4   // no heartbeat
	ExitUsage    = 64  // wrong command line
	ExitSignal   = 143 // SIGTERM
	ExitTree     = 125 // gate: the tree could not be laid out
	ExitNoExec   = 126 // gate: the command cannot be executed
	ExitNotFound = 127 // gate: the command is not in the image
)

// Settings of serve and gate come from the container's environment.
type Settings struct {
	Workspace   string        // TOOLBOX_WORKSPACE
	GatewayPort int           // GATEWAY_PORT; 0 lets the system choose one
	DeadMan     time.Duration // TOOLBOX_DEADMAN
	Grace       time.Duration // TOOLBOX_STOP_GRACE: from SIGTERM to SIGKILL of what a tool started
	GoCache     string        // TOOLBOX_GOCACHE: the baked build cache
	Ready       string        // TOOLBOX_READY: the image's script that makes a fresh tree ready
	Services    string        // TOOLBOX_SERVICES: the image's list of servers that run beside commands
}

// FromEnv reads the settings. A value that is none is an error.
func FromEnv(get func(string) string) (Settings, error) {
	s := Settings{Workspace: toolproto.Workspace, GatewayPort: toolproto.GatewayPort, DeadMan: toolproto.DeadMan, Grace: toolproto.StopGrace, GoCache: goCache, Ready: readyScript, Services: toolproto.ServicesFile}
	if v := get("TOOLBOX_WORKSPACE"); v != "" {
		s.Workspace = v
	}
	if v := get("TOOLBOX_GOCACHE"); v != "" {
		s.GoCache = v
	}
	if v := get("TOOLBOX_READY"); v != "" {
		s.Ready = v
	}
	if v := get("TOOLBOX_SERVICES"); v != "" {
		s.Services = v
	}
	if v := get("GATEWAY_PORT"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 65535 {
			return s, fmt.Errorf("GATEWAY_PORT is %q, want a port", v)
		}
		s.GatewayPort = n
	}
	if v := get("TOOLBOX_DEADMAN"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return s, fmt.Errorf("TOOLBOX_DEADMAN is %q, want a duration like 30s", v)
		}
		s.DeadMan = d
	}
	if v := get("TOOLBOX_STOP_GRACE"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return s, fmt.Errorf("TOOLBOX_STOP_GRACE is %q, want a duration like 3s", v)
		}
		if s.Grace = d; d == 0 {
			s.Grace = -1 // none, where zero is the default
		}
	}
	return s, nil
}

// Serve is PID 1 of a worker's container: it serves the tools on a pipe over
// stdin and stdout, and forwards connections to the gateway's port to the
// host. It returns the exit code when the host is gone; the caller must exit
// at once, since what still hangs in a read would hold a graceful end up.
func Serve(settings Settings, stdin, stdout *os.File, log *slog.Logger) int {
	if err := prctl(syscall.PR_SET_DUMPABLE, 0); err != nil {
		log.Error("set undumpable", "err", err)
		return ExitFault
	}
	// As PID 1 orphans come here anyway; elsewhere only with this.
	if err := prctl(prSetChildSubreaper, 1); err != nil {
		log.Error("become the reaper", "err", err)
		return ExitFault
	}
	link, err := nonBlockingStdio(stdin, stdout)
	if err != nil {
		log.Error("open the link", "err", err)
		return ExitFault
	}
	asked := make(chan struct{})
	var once sync.Once
	server, err := New(Config{Root: settings.Workspace, Grace: settings.Grace, Ready: settings.Ready, Services: settings.Services, Shutdown: func() { once.Do(func() { close(asked) }) }})
	if err != nil {
		log.Error("open the workspace", "err", err)
		return ExitFault
	}
	if err := seedCache(settings.GoCache, lookupVar(server.env, "GOCACHE")); err != nil {
		log.Warn("seed the build cache", "err", err)
	}
	// They start while the container waits for its work, which waits for them.
	go func() { _ = server.services.ensureRunning(context.Background()) }()
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT)

	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", itoa(settings.GatewayPort)))
	if err != nil {
		log.Error("listen for the gateway's clients", "err", err)
		return ExitFault
	}
	session, err := mux.Guest(link)
	if err != nil {
		log.Error("open the link", "err", err)
		return ExitFault
	}
	go forwardConnections(listener, session)
	web := &http.Server{
		Handler: server.Handler(), ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() { _ = web.Serve(session) }()

	code := wait(server, settings.DeadMan, session.Done(), asked, signals)
	// PID 1's end ends all processes of a container; elsewhere they must be
	// killed.
	killTree()
	// Logs and sockets end with the process. Nothing here may wait.
	_ = os.RemoveAll(server.temp)
	return code
}

const prSetChildSubreaper = 36 // linux/prctl.h; syscall lacks it

func prctl(option, value uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// wait reaps orphans until there is a reason to end.
func wait(s *Server, deadMan time.Duration, gone, asked <-chan struct{}, signals <-chan os.Signal) int {
	tick := time.NewTicker(max(deadMan/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-gone:
			return ExitLink
		case <-asked:
			return ExitOK
		case <-tick.C:
			if s.Idle() > deadMan {
				return ExitDeadMan
			}
		case sig := <-signals:
			if sig != syscall.SIGCHLD {
				return ExitSignal
			}
			s.children.reapOrphans()
		}
	}
}

// killTree kills all that came from here, until nothing new appears.
func killTree() {
	for range 10 {
		pids := listDescendants(os.Getpid())
		alive := false
		for _, pid := range pids {
			alive = syscall.Kill(pid, syscall.SIGKILL) == nil || alive
		}
		if !alive {
			return
		}
		time.Sleep(5 * time.Millisecond)
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

// duplex is standard input and output as one stream.
type duplex struct {
	in, out *os.File
}

func (d duplex) Read(p []byte) (int, error)  { return d.in.Read(p) }
func (d duplex) Write(p []byte) (int, error) { return d.out.Write(p) }
func (d duplex) Close() error                { return errors.Join(d.in.Close(), d.out.Close()) }

// nonBlockingStdio makes standard input and output wake up when they are closed: a
// blocking read of standard input never comes back, and yamux waits for it.
func nonBlockingStdio(in, out *os.File) (io.ReadWriteCloser, error) {
	open := func(f *os.File) (*os.File, error) {
		fd := int(f.Fd())
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		// NewFile sees that it does not block and hands it to the poller.
		return os.NewFile(uintptr(fd), f.Name()), nil
	}
	r, err := open(in)
	if err != nil {
		return nil, err
	}
	w, err := open(out)
	if err != nil {
		return nil, err
	}
	return duplex{r, w}, nil
}

// maxForwards keeps an honest toolbox well below the pipe's limit of streams,
// with room for the tools; more clients wait to be accepted.
const maxForwards = mux.MaxStreams - 8

// forwardConnections makes every connection to the gateway's port a stream to the host,
// until the listener or the session ends.
func forwardConnections(listener net.Listener, session *mux.Session) {
	slots := make(chan struct{}, maxForwards)
	for {
		select {
		case slots <- struct{}{}:
		case <-session.Done():
			_ = listener.Close()
			return
		}
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { <-slots }()
			defer client.Close()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			host, err := session.Open(ctx)
			cancel()
			if err != nil {
				return
			}
			copyBothWays(client.(*net.TCPConn), host)
		}()
	}
}

// copyBothWays copies both ways and hands half-closes on: a stream's Close ends our
// half only, the host's may follow.
func copyBothWays(client *net.TCPConn, host net.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(host, client)
		_ = host.Close()
	})
	wg.Go(func() {
		_, err := io.Copy(client, host)
		if err != nil {
			// The client is gone or the stream was reset: there is no reader.
			_ = client.SetDeadline(time.Now())
			_, _ = io.Copy(io.Discard, host)
		}
		_ = client.CloseWrite()
		// The host sends no more; a client that does not close is given a while
		// and then cut, or its slot would never come back.
		_ = client.SetReadDeadline(time.Now().Add(time.Minute))
	})
	wg.Wait()
}
