package depproxy

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/parsetest"
	"company/internal/lib/hosttest"
)

// T16: what a registry of one kind names at the place of another kind's is as foreign as any other
// address, also where that one has put it into the cache.
func TestIndexNamesNoOtherRegistry(t *testing.T) {
	modules := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("private code PK\x05\x06"))
	})
	const secret = "/corp.example/secret/@v/v1.0.0.zip"
	index := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<a href="%s">alpha-1.0.zip</a>`, modules.URL+secret)
	})
	up := upstreamsAt(PyPI, index.URL+"/simple")
	up.Registries[Go] = ecosystem.At(ecosystem.Endpoint{URL: modules.URL}.WithAuth("Bearer hush"))
	s := newStore(t, up)
	p := NewPolicy()
	p.Allow(newDependency(PyPI, "alpha", ""))
	for range 2 {
		asked := len(modules.requests())
		if code, text := getPath(t, s.NewPolicyHandler(p), http.MethodGet,
			"/pypi/files/alpha/alpha-1.0.zip"); code != http.StatusBadGateway || strings.Contains(text, "private") {
			t.Errorf("%d %s", code, text)
		}
		if got := modules.requests(); len(got) > asked {
			t.Fatalf("asked for %q", got)
		}
		// Somebody who may have it has it: what is in the cache is the next thing to steal.
		q := NewPolicy()
		q.Allow(newDependency(Go, "corp.example/secret", "v1.0.0"))
		if code, text := getPath(t, s.NewPolicyHandler(q), http.MethodGet, "/go"+secret); code != http.StatusOK {
			t.Fatalf("%d %s", code, text)
		}
	}
}

// What is brought into the cache for a run counts, also where the run does not wait for it.
func TestBroughtBytesCount(t *testing.T) {
	release := make(chan struct{})
	leaving, leave := context.WithCancel(t.Context())
	defer leave()
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/list") {
			_, _ = fmt.Fprint(w, "v1.0.0\nv1.0.1\n")
			return
		}
		if strings.Contains(q.URL.Path, "v1.0.1") {
			leave() // the download is under way, and the run waits for it
			<-release
		}
		_, _ = w.Write(append(make([]byte, 996), "PK\x05\x06"...))
	})
	s := newStore(t, upstreamsAt(Go, r.URL))
	p := NewPolicy()
	p.Allow(newDependency(Go, "example.com/m", ""))

	head := s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 900})
	if code, _ := getPath(t, head, http.MethodHead, "/go/example.com/m/@v/v1.0.0.zip"); code != http.StatusOK {
		t.Error(code)
	}
	if code, _ := getPath(t, head, http.MethodHead,
		"/go/example.com/m/@v/v1.0.0.zip"); code != http.StatusTooManyRequests {
		t.Errorf("a HEAD costs nothing: %d", code)
	}

	// Once, where it is sent, too.
	once := s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 1500})
	if code, _ := getPath(t, once, http.MethodGet, "/go/example.com/m/@v/v1.0.2.zip"); code != http.StatusOK {
		t.Error(code)
	}
	if code, _ := getPath(t, once, http.MethodGet, "/go/example.com/m/@v/v1.0.2.zip"); code != http.StatusOK {
		t.Errorf("1000 bytes count for more: %d", code)
	}

	left := s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 900})
	q, err := http.NewRequestWithContext(
		leaving, http.MethodGet, "http://127.0.0.1:8377/go/example.com/m/@v/v1.0.1.zip", nil)
	if err != nil {
		t.Fatal(err)
	}
	left.ServeHTTP(&discardWriter{}, q)
	close(release)
	waitFor(t, func() bool {
		code, _ := getPath(t, left, http.MethodGet, "/go/example.com/m/@v/list")
		return code == http.StatusTooManyRequests
	})
}

type discardWriter struct{ h http.Header }

func (d *discardWriter) Header() http.Header {
	if d.h == nil {
		d.h = http.Header{}
	}
	return d.h
}
func (d *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (d *discardWriter) WriteHeader(int)             {}

// The cache is bounded while its office runs, and not when the next one starts.
func TestOpenCacheIsPruned(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) })
	s, err := open(t.TempDir(), upstreamsAt(NPM, r.URL), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for i := range 40 {
		if _, err := getNPM(t.Context(), s,
			ecosystem.Fetch{URL: fmt.Sprint(r.URL, "/", i), Immutable: true, Limit: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	var held int64
	err = filepath.WalkDir(s.dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && filepath.Ext(e.Name()) == "" {
			info, ierr := e.Info()
			if held += info.Size(); ierr != nil {
				return ierr
			}
		}
		return err
	})
	if err != nil || held > 12_000 || held < 5_000 {
		t.Errorf("%d bytes of 10,000 in the cache, %v", held, err)
	}
}

// Large descriptions are parsed one after the other: each takes many times its size, and a client
// may ask for 64 at once.
func TestLargeTextsAreReadInTurn(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		size := map[string]int{"/small": 1 << 20, "/fair": 5 << 20}[q.URL.Path]
		_, _ = w.Write(make([]byte, cmp.Or(size, 40<<20)))
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	read := func(f *fetcher, path string) error {
		_, _, err := f.Read(t.Context(), ecosystem.Fetch{URL: r.URL + path})
		return err
	}
	full := func() bool { // there is no room for another large one, so its request waits
		if s.parsed.TryAcquire(40 << 20) {
			s.parsed.Release(40 << 20)
			return false
		}
		return true
	}
	for i := range 3 { // into the cache
		f := s.fetcherOf(NPM, nil)
		if _, _, err := f.Read(t.Context(), ecosystem.Fetch{URL: fmt.Sprint(r.URL, "/large", i)}); err != nil {
			t.Fatal(err)
		}
		f.endRequest()
	}
	a, b, c := s.fetcherOf(NPM, nil), s.fetcherOf(NPM, nil), s.fetcherOf(NPM, nil)
	defer b.endRequest()
	defer c.endRequest()
	for i, f := range []*fetcher{a, b} {
		if err := read(f, fmt.Sprint("/large", i)); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if !full() {
		t.Error("120 MiB of descriptions are parsed at once")
	}
	if err := read(c, "/small"); err != nil {
		t.Errorf("a small one waits, too: %v", err)
	}
	a.endRequest()
	if err := read(c, "/large2"); err != nil || !full() {
		t.Errorf("there is room: %v", err)
	}
	// A request that has had a smaller one waits for its next as any other.
	d := s.fetcherOf(NPM, nil)
	defer d.endRequest()
	if err := read(d, "/fair"); err != nil {
		t.Error(err)
	}
	b.endRequest()
	if err := read(d, "/large1"); err != nil || !full() {
		t.Errorf("the second text of a request takes no turn: %v", err)
	}
}

// What a lock file costs grows with its size, and not with the square of it: no part of it is compared with, or
// repeated for, each of many others.
func TestLockFilesCostTheirSize(t *testing.T) {
	hosttest.Long(t, "it measures the largest texts")
	hosttest.NotRaced(t, "parsers of one goroutine read megabytes")
	const poetry = "[[package]]\nname = \"a\"\nversion = "
	for name, c := range map[string]struct {
		file  string
		parts []string // each part with an @ is repeated, with a number in place of it
	}{
		"lines that go on":  {"requirements.txt", []string{"a@\\\n"}},
		"digests":           {"requirements.txt", []string{"a==1", " --hash=sha256:@"}},
		"options":           {"requirements.txt", []string{"a==1", " --x@"}},
		"keys":              {"setup.cfg", []string{"[DEFAULT]\n", "a@=b\n", "[options.extras_require]\n", "[s@]\n"}},
		"a key, many times": {"setup.cfg", []string{"[options]\n", "install_requires = a@\n"}},
		"lines of a value":  {"setup.cfg", []string{"[options]\ninstall_requires =\n", "  a@ \\\n"}},
		"semicolons":        {"setup.cfg", []string{"[options]\ninstall_requires = ", "a@;"}},
		"references":        {"tox.ini", []string{"[t]\ndeps =\n", "  {[a]x}\n  {[@]x}\n", "[a]\nx =\n", "  b@\n"}},
		"versions and files, of poetry": {"poetry.lock", []string{poetry, "\"1.@\"\n" + poetry,
			"\"1\"\n[metadata.files]\na = [",
			"{file = \"a\", hash = \"sha256:@\"}, ", "]\n"}},
		"versions twice, of poetry": {"poetry.lock", []string{poetry, "\"1\" # @\n" + poetry,
			"\"1\"\n[metadata.files]\na = [",
			"{file = \"a\", hash = \"sha256:@\"}, ", "]\n"}},
		"versions and lists, of poetry": {"poetry.lock", []string{poetry, "\"1.@\"\n" + poetry, "\"1\"\n[metadata.files]\n",
			"\"a[@]\" = []\n"}},
		"uv": {"uv.lock", []string{
			"[[package]]\nname = \"a@\"\nversion = \"1\"\nwheels = [{url = \"https://x.example/@\"}]\n"}},
		"indexes, of pipenv": {"Pipfile.lock", []string{`{"_meta":{"sources":[{}`, `,{"name":"a@","url":"https://@"}`,
			`]},"default":{"a":{}`, `,"a@":{"version":"==1","x":"y"}`, `}}`}},
		"an index, many times": {"Pipfile.lock", []string{`{"_meta":{"sources":[{}`, `,{"name":"a","url":"https://@"}`,
			`]},"default":{"a":{}`, `,"a@":{"version":"==1","index":"a"}`, `}}`}},
		"cargo": {"Cargo.lock", []string{"[[package]]\nname = \"a\"\nversion = \"1.0.@\"\ndependencies = [\"a\"]\n"}},
		"go":    {"go.mod", []string{"module x.example/m\n", "replace x.example/a@ => x.example/b v1.0.0\n"}},
		"composer": {"composer.lock", []string{`{"packages":[{}`,
			`,{"name":"a/a@","version":"1.0.0","dist":{"url":"@"}}`, `]}`}},
		"bundler": {"Gemfile.lock", []string{"GEM\n", "  remote: https://x@/\n", "  specs:\n", "    a@ (1.0)\n"}},
		"npm": {"package-lock.json", []string{`{"lockfileVersion":2,"packages":{"":{"dependencies":{"a":"1"`, `,"a@":"1"`,
			`}}`, `,"node_modules/a@":{"version":"1.0.0","inBundle":true}`, `},"dependencies":{"a":{"version":"1.0.0"}`,
			`,"a@":{"version":"1.0.0","requires":{"a1":"1"}}`, `}}`}},
		"yarn": {"yarn.lock", []string{"# yarn lockfile v1\n\n\na@^1", ", a@^@",
			":\n  version \"1.0.0\"\n  dependencies:\n",
			"    b@ \"^1\"\n"}},
		"yarn, later": {"yarn.lock", []string{"__metadata:\n  version: 8\n\n",
			"\"a@npm:^@\":\n  version: 1.0.0\n  resolution: " +
				"\"a@npm:1.0.0\"\n\n"}},
		"pnpm": {"pnpm-lock.yaml", []string{"lockfileVersion: '9.0'\n\nimporters:\n\n", "  p@: {}\n\n", "packages:\n\n",
			"  a@1.0.@:\n    resolution: {integrity: sha512-x}\n\n", "snapshots:\n\n", "  a@1.0.@: {}\n\n"}},
	} {
		locker := lockerOf(c.file)
		measure := func(size int) (allocated uint64) {
			var text strings.Builder
			for _, part := range c.parts {
				for i := range max(1, min(1, strings.Count(part, "@"))*size/len(part)) {
					text.WriteString(strings.ReplaceAll(part, "@", fmt.Sprint(i)))
				}
			}
			files := map[string][]byte{c.file: []byte(text.String())}
			_, allocated = parsetest.Measure(func() {
				_ = explainForm(locker, c.file, files[c.file], nil)
				if sourceTeller, ok := locker.(ecosystem.SourceTeller); ok {
					_ = parseSources(sourceTeller, files)
				}
				if addresser, ok := locker.(ecosystem.Addresser); ok {
					_ = parseAddresses(addresser, files)
				}
				if digester, ok := locker.(ecosystem.FileDigester); ok {
					_ = readFileDigests(digester, files)
				}
			})
			return allocated
		}
		if small, large := measure(8<<10), measure(64<<10); large > 16*small { // 8 times is the size, 64 its square
			t.Errorf("%s: %d times the memory for 8 times the size, %d MiB", name, large/small, large/parsetest.MiB)
		}
	}
}
