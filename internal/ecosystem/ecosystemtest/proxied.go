package ecosystemtest

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// upstreamURL is the address of the test registry.
const upstreamURL = "https://upstream.example/base"

// Served is a test registry with one version of one package.
type Served struct {
	Package  company.Dependency
	Files    map[string]string // the registry's files, by path
	Upstream ecosystem.Upstream
	Metadata []string // paths of requests for metadata of the package
	File     string   // path of the request for the package
	Needs    string   // the package's dependencies, in the form of company.Dependency
	// Default is the registry of a client without settings. It is empty if the client has no default.
	Default string
}

// URL returns the address of a file in the test registry.
func URL(path string) string { return upstreamURL + path }

// ExerciseProxied tests a kind of registry against the contract that depproxy relies on.
func ExerciseProxied(t *testing.T, proxied ecosystem.Proxied, served Served) {
	served.Upstream.Endpoints = []ecosystem.Endpoint{{URL: upstreamURL, Parts: map[string][]string{"stable": {"main"}}}}
	paths := append(slices.Clone(served.Metadata), served.File)
	serve := func(g *gate, files map[string]string, path string) (*ecosystem.Answer, *fetcher, error) {
		f := &fetcher{upstream: served.Upstream, files: files}
		answer, err := proxied.Serve(t.Context(),
			ecosystem.Request{Fetcher: f, Gate: g, Path: path, Base: "http://127.0.0.1:1"})
		if (answer == nil || answer.File == nil && answer.Text == nil) && err == nil {
			t.Errorf("%s: neither an answer nor an error", path)
		}
		return answer, f, err
	}

	t.Run("refused", func(t *testing.T) {
		for _, path := range paths {
			g := &gate{}
			_, f, err := serve(g, served.Files, path)
			if reply := (*ecosystem.Reply)(nil); !errors.As(err, &reply) || reply.Status < 400 || g.refused != 1 ||
				len(f.asked) > 0 {
				t.Errorf("%s, not allowed: %v after %q, %d refusals", path, err, f.asked, g.refused)
			}
		}
	})
	t.Run("allowed", func(t *testing.T) {
		g := &gate{allowed: served.Package}
		for _, path := range served.Metadata {
			answer, _, err := serve(g, served.Files, path)
			if err != nil || answer.Package != (company.Dependency{}) || strings.Contains(string(answer.Text), upstreamURL) {
				t.Errorf("%s: %+v %v", path, answer, err)
			}
		}
		a, f, err := serve(g, served.Files, served.File)
		if err != nil || a.File == nil || a.Package != served.Package || !f.last.Immutable {
			t.Errorf("%s: %+v %v", served.File, a, err)
		}
		if got := join(g.needs); got != served.Needs {
			t.Errorf("allowed with it: %q, want %q", got, served.Needs)
		}
	})
	t.Run("hostile", func(t *testing.T) {
		for _, path := range []string{"", "/", "..", "../x", "%2e%2e/x", "a b", "%00", "%zz", "a%0d%0ab",
			strings.Repeat("a/", 400), strings.Repeat("x", 5000), "-/-/-", "@", "é"} {
			_, f, err := serve(&gate{}, served.Files, path)
			if reply := (*ecosystem.Reply)(nil); !errors.As(err, &reply) || reply.Status < 400 || len(f.asked) > 0 {
				t.Errorf("%q: %v after %q", path, err, f.asked)
			}
		}
		// A registry's text is untrusted, too, and a failing registry does not mean "not found".
		for _, text := range []string{"", "\x00{[\xff'\"", "{}", "null", strings.Repeat("[", 10_000),
			strings.Repeat(`{"a":`, 10_000), strings.Repeat("<a href=x>", 1000)} {
			odd := map[string]string{}
			for file := range served.Files {
				odd[file] = text
			}
			for _, path := range paths {
				_, _, _ = serve(&gate{allowed: served.Package}, odd, path)
			}
		}
		f := &fetcher{upstream: served.Upstream, broken: errors.New("away")}
		if _, err := proxied.Serve(t.Context(),
			ecosystem.Request{Fetcher: f, Gate: &gate{allowed: served.Package}, Path: served.File}); !errors.Is(err, f.broken) {
			t.Errorf("with the registry away: %v", err)
		}
	})
	t.Run("settings", func(t *testing.T) {
		h := &host{}
		up, err := proxied.ReadSettings(t.Context(), h)
		if err != nil || up.EndpointOf("").URL != served.Default || served.Default == "" && h.notes == 0 && len(h.ran) > 0 {
			t.Errorf("without any: %v %v", up, err)
		}
		if up, err := proxied.ReadSettings(t.Context(), &host{text: "\x00[[[=\ndeb x\nregistry=javascript:x\n"}); err != nil {
			t.Errorf("of garbage: %v %v", up, err)
		}
	})
	if c, ok := proxied.(ecosystem.Client); ok {
		t.Run("client", func(t *testing.T) { exerciseClient(t, c, served) })
	}
}

func exerciseClient(t *testing.T, client ecosystem.Client, served Served) {
	f := &fetcher{upstream: served.Upstream, files: served.Files}
	unversioned := served.Package
	unversioned.Version = ""
	all, newest, err := client.ListVersions(t.Context(), f, unversioned)
	if err != nil || newest != served.Package.Version || !slices.Contains(all, newest) {
		t.Errorf("versions %q, newest %q, %v", all, newest, err)
	}
	needs, err := client.ListNeeds(t.Context(), f, served.Package)
	if got := join(needs); err != nil || got != served.Needs {
		t.Errorf("it needs %q, want %q, %v", got, served.Needs, err)
	}
	none := &fetcher{upstream: served.Upstream}
	if _, _, err := client.ListVersions(t.Context(), none, unversioned); !errors.Is(err, ecosystem.ErrNotFound) {
		t.Errorf("of a package that is not there: %v", err)
	}
	for _, added := range []bool{false, true} {
		for k, v := range client.ClientEnv(served.Upstream, "http://127.0.0.1:1/x", added) {
			if strings.Contains(v, "upstream.example") || strings.ContainsAny(k, "=\x00 ") {
				t.Errorf("the container gets %s=%q", k, v)
			}
		}
	}
	if len(client.ClientEnv(served.Upstream, "http://127.0.0.1:1/x", true)) == 0 {
		t.Error("a container's client is led nowhere")
	}
}

func join(dependencies []company.Dependency) string {
	var out []string
	for _, d := range dependencies {
		out = append(out, d.String())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// fetcher serves files from a map.
type fetcher struct {
	upstream ecosystem.Upstream
	files    map[string]string
	broken   error
	asked    []string
	last     ecosystem.Fetch
}

func (f *fetcher) Upstream() ecosystem.Upstream { return f.upstream }

func (f *fetcher) Read(ctx context.Context, w ecosystem.Fetch) ([]byte, string, error) {
	file, err := f.Get(ctx, w)
	if err != nil {
		return nil, "", err
	}
	return file.(content), "text/html", nil
}

func (f *fetcher) Get(_ context.Context, fetch ecosystem.Fetch) (ecosystem.Cached, error) {
	f.asked, f.last = append(f.asked, fetch.URL), fetch
	text, ok := f.files[strings.TrimPrefix(fetch.URL, upstreamURL)]
	switch hash := fetch.Digest.NewHash(); {
	case f.broken != nil:
		return nil, f.broken
	case !ok:
		return nil, fmt.Errorf("%s: %w", fetch.URL, ecosystem.ErrNotFound)
	case hash != nil:
		_, _ = io.WriteString(hash, text)
		if subtle.ConstantTimeCompare(hash.Sum(nil), fetch.Digest.Sum) != 1 {
			return nil, errors.New("another digest")
		}
	}
	return content(text), nil
}

type content []byte

func (c content) ReadAt(use func(io.ReaderAt, int64) error) error {
	return use(bytes.NewReader(c), int64(len(c)))
}

// gate allows one package, and all parts if there is one.
type gate struct {
	allowed company.Dependency
	refused int
	needs   []company.Dependency
}

func (g *gate) Check(dependency company.Dependency) error {
	if dependency.Name != g.allowed.Name {
		return g.Refuse(dependency, "")
	}
	return nil
}

func (g *gate) Refuse(company.Dependency, string) error {
	g.refused++
	return &ecosystem.Reply{Status: ecosystem.StatusForbidden, Line: "no"}
}

func (g *gate) Allows(d company.Dependency) bool { return d == g.allowed }

func (g *gate) AllowsPart(string) bool { return g.allowed.Name != "" }

func (g *gate) Follows(d company.Dependency) bool { return d == g.allowed }

func (g *gate) LockedFile(company.Dependency) (sum ecosystem.Digest, ok bool) { return }

func (g *gate) AllowNeeds(needs []company.Dependency, _ error) { g.needs = append(g.needs, needs...) }

// host returns the same text for every file and has no programs.
type host struct {
	text  string
	notes int
	ran   []string
}

func (h *host) Env(string) string { return "" }
func (h *host) Home() string      { return "/home/x" }
func (h *host) Root() string      { return "/" }

func (h *host) ReadFile(string) ([]byte, error) {
	if h.text == "" {
		return nil, fs.ErrNotExist
	}
	return []byte(h.text), nil
}

func (h *host) Glob(pattern string) []string { return []string{pattern} }

func (h *host) Run(_ context.Context, _ []string, program string, _ ...string) ([]byte, error) {
	h.ran = append(h.ran, program)
	return nil, ecosystem.ErrNoProgram
}

func (h *host) AddNote(string, ...any) { h.notes++ }
func (h *host) TrustCA(string, string) {}
