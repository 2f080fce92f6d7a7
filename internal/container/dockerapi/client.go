package dockerapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"company/internal/company"
)

// dockerClient is an unexported name, so that other packages can reach the embedded client only
// through the methods of Client.
type dockerClient = client.Client

// Client is the Docker client behind the allow-list. It has the methods of client.Client and replaces
// those that take over a connection.
type Client struct {
	*dockerClient
	list    *allowList
	inner   *http.Transport
	address daemonAddress
}

// Options configures a Client.
type Options struct {
	Use   Use
	Host  string       // container.docker_host; empty means the address that Docker's own client uses
	Allow []Word       // allowed commands; nil allows all commands of Use
	Log   *slog.Logger // nil disables logging
}

// Open returns a Client. It honors DOCKER_HOST, the contexts of Docker's own client, DOCKER_CERT_PATH,
// DOCKER_TLS_VERIFY and DOCKER_API_VERSION. It does not connect yet.
func Open(options Options) (*Client, error) {
	if options.Allow == nil {
		options.Allow = append(slices.Clone(Words), wordImage)
	}
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	c := &Client{list: &allowList{use: options.Use, words: options.Allow, log: options.Log}}
	var err error
	if c.address = (daemonAddress{options.Host, "container.docker_host"}); options.Host == "" {
		if c.address, err = findDaemon(os.LookupEnv, standardSocket); err != nil {
			return nil, err
		}
	}
	if err := c.address.checkScheme(); err != nil {
		return nil, err
	}
	opts := []client.Opt{client.FromEnv}
	if c.address.host != "" {
		opts = append(opts, client.WithHost(c.address.host))
	}
	opts = append(opts, client.WithAPIVersionNegotiation(), c.installGuard)
	if c.dockerClient, err = client.NewClientWithOpts(opts...); err != nil {
		return nil, company.E(company.EDocker, "invalid settings for the Docker daemon").Wrap(err).
			Fix("check DOCKER_HOST, DOCKER_CERT_PATH and DOCKER_TLS_VERIFY")
	}
	return c, nil
}

// DescribeDaemon returns the daemon's address and where it is from.
func (c *Client) DescribeDaemon() string {
	return daemonAddress{c.DaemonHost(), c.address.from}.String()
}

// installGuard puts the list in front of the client's transport. The client requires a plain
// *http.Transport after its options have run; otherwise it loses TLS and the dialer for attached
// connections. So the transport stays and passes both schemes to the list, which uses a clone of it.
func (c *Client) installGuard(cli *client.Client) error {
	outer, ok := cli.HTTPClient().Transport.(*http.Transport)
	if !ok {
		return fmt.Errorf("the Docker client's transport is a %T", cli.HTTPClient().Transport)
	}
	c.inner = outer.Clone()
	c.list.next = c.inner
	if dial := outer.DialContext; dial != nil {
		outer.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if h, ok := ctx.Value(handshakeKey{}).(*handshake); ok && err == nil {
				h.setConn(conn)
			}
			return conn, err
		}
	}
	outer.RegisterProtocol("http", c.list)
	outer.RegisterProtocol("https", c.list)
	return nil
}

// Attach returns a connection to the container's three streams.
func (c *Client) Attach(ctx context.Context, id string) (*Stream, error) {
	h, err := c.ContainerAttach(ctx, id,
		dockercontainer.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, err
	}
	return newStream(h), nil
}

// ContainerAttach calls the client's method after checking the list. The client ignores the context on
// such a connection, so the end of ctx sets a deadline on the connection itself. This does not work
// with TLS, where the client dials by itself.
func (c *Client) ContainerAttach(
	ctx context.Context, id string, o dockercontainer.AttachOptions,
) (types.HijackedResponse, error) {
	return c.takeOver(ctx, "/containers/"+id+"/attach", func(ctx context.Context) (types.HijackedResponse, error) {
		return c.dockerClient.ContainerAttach(ctx, id, o)
	})
}

// ContainerExecAttach calls the client's method after checking the list.
func (c *Client) ContainerExecAttach(
	ctx context.Context, id string, o dockercontainer.ExecAttachOptions,
) (types.HijackedResponse, error) {
	return c.takeOver(ctx, "/exec/"+id+"/start", func(ctx context.Context) (types.HijackedResponse, error) {
		return c.dockerClient.ContainerExecAttach(ctx, id, o)
	})
}

// DialHijack always returns an error, because the list cannot see the requests on such a connection.
func (c *Client) DialHijack(ctx context.Context, path, _ string, _ map[string][]string) (net.Conn, error) {
	return nil, c.list.refuseRequest(ctx, http.MethodPost, path, "it takes over a connection")
}

// Dialer returns a function that always fails, like DialHijack.
func (c *Client) Dialer() func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return c.DialHijack(ctx, "/", "", nil) }
}

func (c *Client) takeOver(
	ctx context.Context, path string, attach func(context.Context) (types.HijackedResponse, error),
) (types.HijackedResponse, error) {
	if err := c.list.check(ctx, http.MethodPost, &url.URL{Path: path}); err != nil {
		return types.HijackedResponse{}, err
	}
	h := &handshake{}
	done := context.AfterFunc(ctx, h.abortConn)
	res, err := attach(context.WithValue(ctx, handshakeKey{}, h))
	if !done() { // the connection may have been cut
		if err == nil {
			res.Close()
		}
		return types.HijackedResponse{}, ctx.Err()
	}
	return res, err
}

type handshakeKey struct{}

// handshake aborts a connection when its context ends, even if the connection is set later.
type handshake struct {
	mu      sync.Mutex
	conn    net.Conn
	aborted bool
}

func (h *handshake) setConn(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = conn
	if h.aborted {
		_ = conn.SetDeadline(time.Unix(1, 0))
	}
}

func (h *handshake) abortConn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.aborted = true
	if h.conn != nil {
		_ = h.conn.SetDeadline(time.Unix(1, 0))
	}
}

// Close disconnects from the daemon.
func (c *Client) Close() error {
	c.inner.CloseIdleConnections()
	return c.dockerClient.Close()
}
