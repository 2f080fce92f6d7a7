package dockerapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"company/internal/company"
)

// dockerClient has a name of this package's, so that nothing outside reaches
// the client past the methods of Client.
type dockerClient = client.Client

// Client is the Docker client behind the allow-list. It has the methods of
// client.Client; those that take over a connection are here.
type Client struct {
	*dockerClient
	list  *allowList
	inner *http.Transport
}

// Options configure a Client.
type Options struct {
	Use   Use
	Host  string       // the daemon's address; empty: DOCKER_HOST, else the standard socket
	Allow []Word       // what may be asked of the daemon; nil: all that the Use has
	Log   *slog.Logger // nil: no log
}

// Open honours DOCKER_HOST, DOCKER_CERT_PATH, DOCKER_TLS_VERIFY and
// DOCKER_API_VERSION. It connects to nothing yet.
func Open(o Options) (*Client, error) {
	if o.Allow == nil {
		o.Allow = append(slices.Clone(Words), wordImage)
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c := &Client{list: &allowList{use: o.Use, words: o.Allow, log: o.Log}}
	opts := []client.Opt{client.FromEnv}
	if o.Host != "" {
		opts = append(opts, client.WithHost(o.Host))
	}
	opts = append(opts, client.WithAPIVersionNegotiation(), c.installGuard)
	var err error
	if c.dockerClient, err = client.NewClientWithOpts(opts...); err != nil {
		return nil, company.E(company.EDocker, "the settings for the Docker daemon are wrong").Wrap(err).
			Fix("check DOCKER_HOST, DOCKER_CERT_PATH and DOCKER_TLS_VERIFY")
	}
	return c, nil
}

// installGuard puts the list in front of the client's transport. The client must
// still find a plain *http.Transport when it is done with its options, else it
// forgets TLS and the dialer for attached connections; so the transport stays
// and hands both schemes to the list, which uses a clone of it.
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

// Attach takes over a connection to the container's three streams.
func (c *Client) Attach(ctx context.Context, id string) (*Stream, error) {
	h, err := c.ContainerAttach(ctx, id, dockercontainer.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, err
	}
	return newStream(h), nil
}

// ContainerAttach is the client's, behind the list. On such a connection the
// client looks at no context, so the handshake's end is forced through the
// connection itself (but on TLS, where the client dials by itself).
func (c *Client) ContainerAttach(ctx context.Context, id string, o dockercontainer.AttachOptions) (types.HijackedResponse, error) {
	return c.takeOver(ctx, "/containers/"+id+"/attach", func(ctx context.Context) (types.HijackedResponse, error) {
		return c.dockerClient.ContainerAttach(ctx, id, o)
	})
}

// ContainerExecAttach is the client's, behind the list.
func (c *Client) ContainerExecAttach(ctx context.Context, id string, o dockercontainer.ExecAttachOptions) (types.HijackedResponse, error) {
	return c.takeOver(ctx, "/exec/"+id+"/start", func(ctx context.Context) (types.HijackedResponse, error) {
		return c.dockerClient.ContainerExecAttach(ctx, id, o)
	})
}

// DialHijack is refused: the list cannot see the requests on such a connection.
func (c *Client) DialHijack(ctx context.Context, path, _ string, _ map[string][]string) (net.Conn, error) {
	return nil, c.list.refuseRequest(ctx, http.MethodPost, path, "it takes over a connection")
}

// Dialer is refused, as DialHijack is.
func (c *Client) Dialer() func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return c.DialHijack(ctx, "/", "", nil) }
}

func (c *Client) takeOver(ctx context.Context, path string, attach func(context.Context) (types.HijackedResponse, error)) (types.HijackedResponse, error) {
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

// handshake cuts a connection short when its context ends, in whatever order
// the two come.
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

// Close lets go of the daemon.
func (c *Client) Close() error {
	c.inner.CloseIdleConnections()
	return c.dockerClient.Close()
}
