package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"

	"github.com/docker/docker/client"
)

// containerPrefix begins the name of every container that this package makes.
// Containers are always spoken to by name, so the guard can refuse all others.
const containerPrefix = "company-image-"

// allowedCalls are the only calls to the daemon that leave this package, with the
// API version cut off. A worker's runtime has a list of its own.
var allowedCalls = []struct {
	method string
	path   *regexp.Regexp
}{
	{"GET,HEAD", regexp.MustCompile(`^/_ping$`)},
	{"GET", regexp.MustCompile(`^/version$`)},
	{"GET", regexp.MustCompile(`^/images/json$`)},
	{"GET", regexp.MustCompile(`^/images/[^?]+/json$`)},
	{"POST", regexp.MustCompile(`^/images/load$`)},
	{"POST", regexp.MustCompile(`^/images/create$`)}, // narrowed in allows
	{"DELETE", regexp.MustCompile(`^/images/company/(worker|layer):[a-z0-9-]+$`)},
	{"POST", regexp.MustCompile(`^/containers/create$`)}, // narrowed in allows
	{"POST", regexp.MustCompile(`^/commit$`)},            // narrowed in allows
	{"GET", regexp.MustCompile(`^/containers/` + containerPrefix + `[a-z0-9-]+/(json|export|archive|changes)$`)},
	{"PUT", regexp.MustCompile(`^/containers/` + containerPrefix + `[a-z0-9-]+/archive$`)},
	{"POST", regexp.MustCompile(`^/containers/` + containerPrefix + `[a-z0-9-]+/(start|wait)$`)},
	{"DELETE", regexp.MustCompile(`^/containers/` + containerPrefix + `[a-z0-9-]+$`)},
}

var (
	apiVersionRE = regexp.MustCompile(`^/v[0-9]+\.[0-9]+/`)
	digestRE     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	errForbidden = errors.New("not on the list of allowed Docker calls")
)

// allowList is the allow-list on the way to the daemon.
type allowList struct{ next http.RoundTripper }

func (g allowList) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isAllowedCall(r) {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, errForbidden)
	}
	return g.next.RoundTrip(r)
}

func isAllowedCall(r *http.Request) bool {
	path := r.URL.Path
	if v := apiVersionRE.FindString(path); v != "" {
		path = "/" + path[len(v):]
	}
	q := r.URL.Query()
	for _, a := range allowedCalls {
		if !slices.Contains(strings.Split(a.method, ","), r.Method) || !a.path.MatchString(path) {
			continue
		}
		switch path {
		case "/images/create": // a rootfs from our stdin, or a pull by digest; never a tag
			return q.Get("fromSrc") == "-" && q.Get("fromImage") == "" ||
				q.Get("fromSrc") == "" && digestRE.MatchString(q.Get("tag"))
		case "/containers/create":
			return strings.HasPrefix(q.Get("name"), containerPrefix)
		case "/commit":
			return strings.HasPrefix(q.Get("container"), containerPrefix)
		}
		return true
	}
	return false
}

// connectDocker makes a client of the daemon that DOCKER_HOST names, with every call
// guarded. No call is made yet. The second result closes its connections.
func connectDocker() (*client.Client, func(), error) {
	var base http.RoundTripper
	wrap := func(c *client.Client) error {
		base = c.HTTPClient().Transport
		if t, ok := base.(*http.Transport); ok && t.TLSClientConfig != nil {
			// The client finds out about TLS by looking at its transport, which
			// the guard now hides.
			if err := client.WithScheme("https")(c); err != nil {
				return err
			}
		}
		return client.WithHTTPClient(&http.Client{Transport: allowList{base}, CheckRedirect: client.CheckRedirect})(c)
	}
	c, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation(), wrap)
	if err != nil {
		return nil, nil, company.E(company.EDocker, "the Docker client cannot be set up").Wrap(err).
			Fix("check DOCKER_HOST, DOCKER_CERT_PATH and DOCKER_TLS_VERIFY")
	}
	closer := func() {
		_ = c.Close()
		if t, ok := base.(*http.Transport); ok {
			t.CloseIdleConnections()
		}
	}
	return c, closer, nil
}

// daemonError gives an error of the daemon its code.
func daemonError(doing string, err error) error {
	var known *company.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &company.Error{Code: company.ETimeout, Class: company.Recoverable, Op: doing, Message: "the Docker daemon did not answer in time",
			Hint: "check the daemon with `docker info`, then try again", Err: err}
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, os.ErrPermission):
		return &company.Error{Code: company.EDocker, Class: company.HumanRequired, Op: doing, Message: "no permission to talk to the Docker daemon",
			Hint: "company doctor names the command that gives it", Err: err}
	case client.IsErrConnectionFailed(err):
		return &company.Error{Code: company.EDocker, Class: company.HumanRequired, Op: doing, Message: "no Docker daemon answers",
			Hint: "start it (scripts/setup.sh does, as root) or set DOCKER_HOST", Err: err}
	default:
		return &company.Error{Code: company.EDocker, Op: doing, Message: "the Docker daemon refused", Err: err}
	}
}
