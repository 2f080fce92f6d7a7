package forgetest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the description
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

//go:embed testdata/github.json.gz
var githubSpecGzip []byte

// Contract is GitHub's own description of its API, trimmed (testdata/trim.go).
type Contract struct {
	router routers.Router
}

// GitHubContract loads the description, once per process.
var GitHubContract = sync.OnceValues(func() (*Contract, error) {
	z, err := gzip.NewReader(bytes.NewReader(githubSpecGzip))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read GitHub's description: %w", err)
	}
	// gorillamux matches one segment per parameter, but these contain slashes.
	paths := openapi3.NewPaths()
	for path, item := range doc.Paths.Map() {
		for _, p := range []string{"ref", "branch", "path"} {
			path = strings.ReplaceAll(path, "{"+p+"}", "{"+p+":.+}")
		}
		paths.Set(path, item)
	}
	doc.Paths = paths
	doc.Servers = nil
	// The description requires an object here. Its text also permits the array that GitHub's own clients send.
	labels := doc.Paths.Value("/repos/{owner}/{repo}/issues/{issue_number}/labels").
		Post.RequestBody.Value.Content["application/json"].Schema.Value
	*labels = openapi3.Schema{OneOf: openapi3.SchemaRefs{
		openapi3.NewSchemaRef("", openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema())),
		openapi3.NewSchemaRef(
			"", openapi3.NewObjectSchema().WithProperty(
				"labels", openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema()))),
	}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route GitHub's description: %w", err)
	}
	return &Contract{router: router}, nil
})

// maxBody limits how much of a request the fake reads.
const maxBody = 16 << 20

// Handler validates every request and reply against the description. It first removes prefix from a request's path.
// It calls broken for each violation and sends the reply anyway.
func (c *Contract) Handler(prefix string, next http.Handler, broken func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			return // the client has disconnected
		}
		seen := r.Clone(r.Context())
		seen.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
		seen.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, prefix)
		seen.URL.Host = ""
		seen.URL.Scheme = ""
		seen.Host = ""
		seen.Body = io.NopCloser(bytes.NewReader(body))
		in, err := c.validateRequest(seen)
		if err != nil {
			broken(fmt.Errorf("%s %s: the request: %w", r.Method, r.URL, err))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := &recorder{ResponseWriter: w}
		next.ServeHTTP(rec, r)
		if in == nil || rec.code == 0 || rec.code == http.StatusNotModified {
			return
		}
		out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: rec.code, Header: rec.Header(),
			Options: validationOptions}
		out.SetBodyBytes(rec.body.Bytes())
		if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
			broken(fmt.Errorf("%s %s: the reply %d: %w\n%.2000s", r.Method, r.URL, rec.code, err, rec.body.String()))
		}
	})
}

var validationOptions = &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	MultiError: true}

func (c *Contract) validateRequest(r *http.Request) (*openapi3filter.RequestValidationInput, error) {
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		return nil, fmt.Errorf("it is not in the description: %w", err)
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: validationOptions}
	return in, openapi3filter.ValidateRequest(r.Context(), in)
}

// recorder keeps a copy of each response.
type recorder struct {
	http.ResponseWriter
	code     int
	body     bytes.Buffer
	onHeader func(code int) // may be nil
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	if r.onHeader != nil {
		r.onHeader(code)
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.code == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}
