package dockerapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/company"
)

// requireAllowed compares what one use may ask for with a table.
func requireAllowed(t *testing.T, use Use, calls map[string]bool) {
	t.Helper()
	c, err := Open(Options{Use: use, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for call, allowed := range calls {
		method, path, _ := strings.Cut(call, " ")
		u, err := url.Parse("http://docker" + path)
		if err != nil {
			t.Fatal(err)
		}
		err = c.list.check(context.Background(), method, u)
		if (err == nil) != allowed || err != nil && (company.CodeOf(err) != company.EPolicy || !company.NeedsPerson(err)) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// What a runtime of containers may ask, and spellings that a router may read in
// another way than we do.
func TestContainersMayAsk(t *testing.T) {
	requireAllowed(t, Containers, map[string]bool{
		"GET /v1.41/containers/abc/json":                                                 true,
		"GET /containers/json?all=1":                                                     true,
		"HEAD /_ping":                                                                    true,
		"GET /v1.41/images/sha256:abc/json":                                              true,
		"DELETE /v1.41/containers/abc?force=1":                                           true,
		"POST /v1.41/containers/abc/start":                                               true,
		"POST /v1.41/containers/abc/start?x=1":                                           false,
		"POST /v1.41/containers/../exec/start":                                           false,
		"POST /v1.41/containers/%2e%2e/start":                                            false,
		"POST /v1.41/containers/a%2fb/start":                                             false,
		"POST /v1.41/containers/abc/start/":                                              false,
		"POST /v1.41//containers/abc/start":                                              false,
		"POST /v1.41/v1.41/containers/abc/start":                                         false,
		"GET /v1.41/containers/abc/start":                                                false,
		"PUT /v1.41/containers/abc/archive":                                              false,
		"GET /v1.41/containers/abc/archive":                                              false,
		"GET /v1.41/containers/abc/logs":                                                 false,
		"GET /v1.41/containers/abc/attach/ws":                                            false,
		"POST /v1.41/containers/prune":                                                   false,
		"POST /v1.41/build":                                                              false,
		"POST /v1.41/images/create?fromImage=x":                                          false,
		"DELETE /v1.41/images/abc":                                                       false,
		"DELETE /v1.41/containers/abc?v=1":                                               false,
		"GET /v1.41/containers/.hidden/json":                                             false,
		"POST /v1.41/containers/abc/attach?logs=1":                                       false,
		"POST /v1.41/containers/create?platform=x":                                       false,
		"CONNECT /v1.41/containers/create":                                               false,
		"POST /containers/abc/kill?signal=SIGKILL&x=":                                    false,
		"PUT /v1.41/containers/company-image-x/archive?path=/":                           true,
		"PUT /v1.41/containers/company-image-x/archive?path=/&noOverwriteDirNonDir=true": true,
		"PUT /v1.41/containers/company-image-x/archive?path=/etc":                        false,
		"PUT /v1.41/containers/company-image-x/archive":                                  false,
		"PUT /v1.41/containers/abc/archive?path=/":                                       false,
		"GET /v1.41/containers/company-image-x/archive?path=/":                           false,
		"POST /v1.41/commit?container=company-image-x":                                   false,
		"POST /v1.41/containers/abc/exec":                                                false,
	})
}

// What the preparation of images may ask and no more: it starts nothing.
func TestImagesMayAsk(t *testing.T) {
	requireAllowed(t, Images, map[string]bool{
		"GET /_ping":             true,
		"HEAD /_ping":            true,
		"GET /v1.41/version":     true,
		"GET /v1.41/images/json": true,
		"GET /v1.41/images/company/worker:abc/json":                                   true,
		"GET /v1.41/images/127.0.0.1:5000/x@sha256:00/json":                           true,
		"POST /v1.41/images/load?quiet=1":                                             true,
		"POST /v1.41/images/create?fromSrc=-&repo=x":                                  true,
		"POST /v1.41/images/create?fromImage=x&tag=sha256:" + strings.Repeat("0", 64): true,
		"POST /v1.41/images/create?fromImage=x&tag=latest":                            false,
		"POST /v1.41/images/create?fromSrc=http://evil/x":                             false,
		"POST /v1.41/images/create?fromSrc=-&fromImage=x":                             false,
		"POST /v1.41/images/create?fromImage=x":                                       false,
		"DELETE /v1.41/images/company/layer:base-00":                                  true,
		"DELETE /v1.41/images/debian:12":                                              false,
		"DELETE /v1.41/images/sha256:00":                                              false,
		"POST /v1.41/containers/create?name=company-image-x":                          true,
		"POST /v1.41/containers/create?name=x":                                        false,
		"POST /v1.41/containers/create":                                               false,
		"POST /v1.41/containers/company-image-x/start":                                false,
		"POST /v1.41/containers/x/start":                                              false,
		"PUT /v1.41/containers/company-image-x/archive?path=/":                        true,
		"PUT /v1.41/containers/x/archive?path=/":                                      false,
		"DELETE /v1.41/containers/company-image-x":                                    true,
		"DELETE /v1.41/containers/x":                                                  false,
		"DELETE /v1.41/containers/company-image-x/../x":                               false,
		"POST /v1.41/containers/company-image-x/../x/start":                           false,
		"POST /v1.41/commit?container=company-image-x":                                true,
		"POST /v1.41/commit?container=x":                                              false,
		"POST /v1.41/containers/company-image-x/exec":                                 false,
		"POST /v1.41/containers/company-image-x/attach":                               false,
		"POST /v1.41/build":                                                           false,
		"POST /v1.41/volumes/create":                                                  false,
		"POST /v1.41/networks/create":                                                 false,
		"POST /v1.41/images/prune":                                                    false,
		"POST /v1.41/containers/prune":                                                false,
		"GET /v1.41/containers/json":                                                  false,
		"GET /v1.41/info":                                                             false,
		"GET /v1.41/containers/company-image-x/changes":                               true,
		"GET /v1.41/containers/x/changes":                                             false,
		"POST /v1.41/auth":                                                            false,
		"POST /v1.41/images/company/worker:abc/push":                                  false,
		"ET /_ping": false,
		"GET /":     false,
		"POST /v1.41/containers/company-image-x/wait": false, "POST /v1.41/containers/company-image-x/kill": false,
		"GET /v1.41/images/x/../../info/json": false, "DELETE /v1.41/images/company/layer:a/../x": false,
	})
}

// Connections that the client takes over go past its transport: each way to one
// asks the list by itself.
func TestNoConnectionGoesPastTheList(t *testing.T) {
	asked := false
	daemon := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer daemon.Close()
	c, err := Open(Options{Use: Images, Host: strings.Replace(daemon.URL, "http", "tcp", 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, call := range map[string]func() error{
		"attach": func() error { _, err := c.Attach(t.Context(), "abc"); return err },
		"exec attach": func() error {
			_, err := c.ContainerExecAttach(t.Context(), "abc", dockercontainer.ExecAttachOptions{})
			return err
		},
		"hijack": func() error { _, err := c.DialHijack(t.Context(), "/session", "h2c", nil); return err },
		"dialer": func() error { _, err := c.Dialer()(t.Context()); return err },
	} {
		if err := call(); company.CodeOf(err) != company.EPolicy {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked {
		t.Error("the daemon was asked")
	}
}
