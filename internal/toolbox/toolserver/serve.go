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

	"company/internal/toolbox/mux"
	"company/internal/toolbox/toolproto"
)

// Exit codes of the binary. Only people and tests use them.
const (
	ExitOK       = 0   // the host requested the shutdown
	ExitFault    = 1   // the toolbox cannot work here
	ExitLink     = 3   // the link to the host was lost
	ExitDeadMan  = 4   // no heartbeat arrived in time
	ExitUsage    = 64  // wrong command line
	ExitSignal   = 143 // SIGTERM
	ExitTree     = 125 // gate: the tree could not be created
	ExitNoExec   = 126 // gate: the command cannot be executed
	ExitNotFound = 127 // gate: the command is not in the image
)

// Settings of serve and gate are read from the container's environment.
type Settings struct {
	Workspace   string        // TOOLBOX_WORKSPACE
	GatewayPort int           // GATEWAY_PORT; 0 lets the system choose one
	DeadMan     time.Duration // TOOLBOX_DEADMAN
	Grace       time.Duration // TOOLBOX_STOP_GRACE: time from SIGTERM to SIGKILL
	GoCache     string        // TOOLBOX_GOCACHE: the baked build cache
	Ready       string        // TOOLBOX_READY: the image's script that prepares a fresh tree
	Services    string        // TOOLBOX_SERVICES: the image's list of servers that run beside commands
}

// FromEnv reads the settings. It returns an error for an invalid value.
func FromEnv(get func(string) string) (Settings, error) {
	settings := Settings{Workspace: toolproto.Workspace, GatewayPort: toolproto.GatewayPort, DeadMan: toolproto.DeadMan,
		Grace: toolproto.StopGrace, GoCache: goCache, Ready: readyScript, Services: toolproto.ServicesFile}
	if v := get("TOOLBOX_WORKSPACE"); v != "" {
		settings.Workspace = v
	}
	if v := get("TOOLBOX_GOCACHE"); v != "" {
		settings.GoCache = v
	}
	if v := get("TOOLBOX_READY"); v != "" {
		settings.Ready = v
	}
	if v := get("TOOLBOX_SERVICES"); v != "" {
		settings.Services = v
	}
	if v := get("GATEWAY_PORT"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 65535 {
			return settings, fmt.Errorf("GATEWAY_PORT is %q, want a port", v)
		}
		settings.GatewayPort = n
	}
	if v := get("TOOLBOX_DEADMAN"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return settings, fmt.Errorf("TOOLBOX_DEADMAN is %q, want a duration like 30s", v)
		}
		settings.DeadMan = d
	}
	if v := get("TOOLBOX_STOP_GRACE"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return settings, fmt.Errorf("TOOLBOX_STOP_GRACE is %q, want a duration like 3s", v)
		}
		if settings.Grace = d; d == 0 {
			settings.Grace = -1 // disabled; zero would mean the default
		}
	}
	return settings, nil
}

// Serve runs as PID 1 of a worker's container. It serves the tools over stdin and stdout, and forwards connections to
// the gateway's port to the host. It returns an exit code once the host is gone. The caller must exit at once, because
// goroutines that are blocked in a read would delay a graceful shutdown.
func Serve(settings Settings, stdin, stdout *os.File, log *slog.Logger) int {
	if err := prctl(syscall.PR_SET_DUMPABLE, 0); err != nil {
		log.Error("set undumpable", "err", err)
		return ExitFault
	}
	// PID 1 gets orphans anyway; other processes need this.
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
	server, err := New(
		Config{Root: settings.Workspace, Grace: settings.Grace, Ready: settings.Ready, Services: settings.Services,
			Shutdown: func() { once.Do(func() { close(asked) }) }})
	if err != nil {
		log.Error("open the workspace", "err", err)
		return ExitFault
	}
	if err := seedCache(settings.GoCache, lookupVar(server.env, "GOCACHE")); err != nil {
		log.Warn("seed the build cache", "err", err)
	}
	// They start while the container waits for work. The work waits for them.
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
	// All processes of a container end with PID 1. Outside of a container they must be killed.
	killTree()
	// Logs and sockets close with the process. Do not wait here.
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

// wait reaps orphans until there is a reason to exit, and returns the exit code.
func wait(server *Server, deadMan time.Duration, gone, asked <-chan struct{}, signals <-chan os.Signal) int {
	tick := time.NewTicker(max(deadMan/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-gone:
			return ExitLink
		case <-asked:
			return ExitOK
		case <-tick.C:
			if server.Idle() > deadMan {
				return ExitDeadMan
			}
		case sig := <-signals:
			if sig != syscall.SIGCHLD {
				return ExitSignal
			}
			server.children.reapOrphans()
		}
	}
}

// killTree kills all descendants of this process until no new ones appear.
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

// duplex combines standard input and output into one stream.
type duplex struct {
	in, out *os.File
}

func (d duplex) Read(p []byte) (int, error)  { return d.in.Read(p) }
func (d duplex) Write(p []byte) (int, error) { return d.out.Write(p) }
func (d duplex) Close() error                { return errors.Join(d.in.Close(), d.out.Close()) }

// nonBlockingStdio makes reads from standard input return when it is closed. A blocking read would never return, and
// yamux waits for it.
func nonBlockingStdio(in, out *os.File) (io.ReadWriteCloser, error) {
	open := func(file *os.File) (*os.File, error) {
		fd := int(file.Fd())
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		// NewFile detects the non-blocking mode and uses the poller.
		return os.NewFile(uintptr(fd), file.Name()), nil
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

// maxForwards keeps a correct toolbox well below the session's limit of streams, with some left for the tools. Further
// clients wait to be accepted.
const maxForwards = mux.MaxStreams - 8

// forwardConnections forwards every connection to the gateway's port as a stream to the host, until the listener or
// the session ends.
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

// copyBothWays copies in both directions and forwards half-closes. Closing a stream only ends our direction.
func copyBothWays(client *net.TCPConn, host net.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(host, client)
		_ = host.Close()
	})
	wg.Go(func() {
		_, err := io.Copy(client, host)
		if err != nil {
			// The client is gone or the stream was reset, so discard the rest.
			_ = client.SetDeadline(time.Now())
			_, _ = io.Copy(io.Discard, host)
		}
		_ = client.CloseWrite()
		// The host sends no more data. Disconnect a client that does not close within a minute, because its slot would never
		// be free again.
		_ = client.SetReadDeadline(time.Now().Add(time.Minute))
	})
	wg.Wait()
}
